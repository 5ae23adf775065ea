"""Every command that a page prints runs there, and answers what the page prints under it."""
