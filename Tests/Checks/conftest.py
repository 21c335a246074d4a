def pytest_addoption(parser):
    parser.addoption("--write-interface", action="store_true", help="renew the lists in Tests/Checks/Interface")
