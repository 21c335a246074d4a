def pytest_addoption(parser):
    parser.addoption("--write-kinds", action="store_true", help="write the table of kinds anew")
