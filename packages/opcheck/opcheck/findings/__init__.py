"""What is compared, and how a failure is told."""
