"""The benchmark of Gatehouse: ``python -m bench --help`` lists its commands, README.md explains them."""
