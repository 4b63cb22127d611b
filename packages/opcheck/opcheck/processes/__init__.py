"""The processes in which an op runs, and may die."""
