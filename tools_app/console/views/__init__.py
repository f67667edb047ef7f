"""One module per place of the console."""
