"""The processes of the product: web, worker, ticker, and the supervisor of all three."""
