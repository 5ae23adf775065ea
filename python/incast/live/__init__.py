"""Run a scenario on this machine's kernel, with hosts in namespaces around a real switch."""
