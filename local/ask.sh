#!/usr/bin/env bash
# Asks the model as a tenant's application would: a Pod of app `notes` in the namespace of tenant `family`, with
# nothing but its Secret. Prints the answer. Usage: ask.sh [MODEL] [QUESTION]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$HEARTH_ROOT/local/env.sh"
model=${1:-gemma}
question=${2:-Say hello to the people of this house in one short sentence.}
pod=ask-$$

trap 'kubectl -n tenant-family delete pod "$pod" --ignore-not-found --wait=false >/dev/null' EXIT
kubectl -n tenant-family apply -f - >/dev/null <<MANIFEST
apiVersion: v1
kind: Pod
metadata:
  name: $pod
  labels: {hearth.dev/app: notes}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 20001, runAsGroup: 20001, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: notes
    image: $IMAGE_CLIENT
    imagePullPolicy: IfNotPresent
    command: [python3, -c]
    args:
    - |
      import os, openai
      client = openai.OpenAI(timeout=300, max_retries=2)
      answer = client.chat.completions.create(
          model=os.environ["MODEL"], max_tokens=32, user="anna",
          messages=[{"role": "user", "content": os.environ["QUESTION"]}])
      print(answer.choices[0].message.content.strip())
    env:
    - {name: MODEL, value: "$model"}
    - {name: QUESTION, value: "$question"}
    envFrom: [{secretRef: {name: llm-credentials-notes}}]
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
    resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {memory: 256Mi}}
MANIFEST
phase=
for _ in $(seq 600); do
  phase=$(kubectl -n tenant-family get pod "$pod" -o 'jsonpath={.status.phase}')
  case $phase in Succeeded | Failed) break ;; esac
  sleep 0.5
done
answer=$(kubectl -n tenant-family logs "$pod")
[ "$phase" = Succeeded ] || fail "the Pod of app notes ended as ${phase:-unknown}: $answer"
printf '\n  app notes of tenant family asked %s: %s\n  %s answered: %s\n\n' "$model" "$question" "$model" "$answer"
