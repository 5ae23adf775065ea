"""The same scenario on this machine's kernel: hosts in namespaces around a real switch."""
