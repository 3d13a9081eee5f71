# The edge half: container hosts, the scenarios that install them, and their checks. Included by the Makefile.
.PHONY: edge-images edge-up edge-down test-edge lint-edge

edge-images: setup ## the host images and runtimes that the edge scenarios install (cached)
	@local/edge-hosts.sh
	@local/edge-ollama.sh

edge-up: ## two fresh container hosts for ansible-playbook -i inventories/local playbooks/edge.yml
	@local/edge-scenarios.sh up

edge-down: ## delete those hosts, with the claim and the authority that belong to them
	@local/edge-scenarios.sh down

test-edge: edge-images ## every edge scenario; SCENARIOS="default hostile" for some
	@local/edge-scenarios.sh test $(SCENARIOS)

lint-edge: ## ansible-lint (production profile), yamllint, and the roles' own texts
	@local/edge-lint.sh
