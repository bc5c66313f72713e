#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# matrix.sh for the programs of dialect "async".
dialect=async exec bash "${0%/*}/matrix.sh"
