# Hearth: `make up` sets up everything on this machine and runs the main job, `make test` passes the tests,
# `make down` leaves nothing behind. Every target may be repeated.
.DEFAULT_GOAL := help
SHELL := /bin/bash

.PHONY: help up down test test-long test-cold test-upgrade check ask setup tools images cluster cluster-down deploy

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

up: ## set up everything this machine needs, deploy the local environment, and print a model's answer
	@local/up.sh

down: ## take the local environment down: no container, network, mount or process is left; caches stay
	@local/cluster-down.sh

test: ## every test, in a cluster of its own
	@local/test.sh

test-long: ## fuzz, client matrices and soak, which `make test` leaves out; at most an hour
	@local/test-long.sh

test-cold: ## make up and make down with empty caches in a folder of their own: how long a bare machine takes
	@local/test-cold.sh

test-upgrade: ## an environment of an older version is updated and taken down, in a cluster of its own
	@local/test-upgrade.sh

check: ## format, lint, types, import directions and the pure tests; under a minute
	@local/setup.sh
	@local/check.sh

ask: ## ask the local model again, as a tenant's application
	@local/ask.sh

deploy: ## pulumi up of the local environment on the running cluster
	@local/deploy.sh

setup: ## .venv with everything Python; .venv/bin/hearth works afterwards
	@local/setup.sh

tools: ## kind, kubectl, Kubernetes and Pulumi: official binaries, or built from Go modules (cached)
	@local/tools.sh

images: ## the container images of images/, and the root file systems they stand on (cached)
	@images/build.sh

cluster: ## the local Kubernetes cluster with the images loaded; a healthy one is kept
	@local/cluster.sh

cluster-down: ## delete the local cluster, its network and its mounts; caches stay
	@local/cluster-down.sh

-include local/edge.mk
