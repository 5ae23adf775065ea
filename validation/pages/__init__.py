"""Run the commands that pages print, and compare their output with the printed output."""
