"""The scheduled jobs: drift sweep, compile drain, lint pass, and the night that runs them."""
