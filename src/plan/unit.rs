//! A unit: a file with the project modules that it reaches, and which planner it goes to.
