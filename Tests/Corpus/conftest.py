def pytest_addoption(parser):
    parser.addoption("--write-kinds", action="store_true", help="replace the table of kinds")
