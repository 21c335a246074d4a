"""The page with TLS, and the addresses that it refuses without."""
import signal
import ssl
import subprocess

import pytest
import trustme

from harness.waiting import wait_for
from harness.web import Page


@pytest.fixture
def files(tmp_path):
    """The files of a certificate and its key, and of their authority."""
    return {name: tmp_path / f"{name}.pem" for name in ("certificate", "key", "authority")}


def issue(files, authority):
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(files["key"])
    files["certificate"].write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    return certificate.cert_chain_pems[0].bytes()


def serial(page):
    """Returns the certificate that the page presents."""
    return ssl.get_server_certificate(("127.0.0.1", page.port)).encode()


def test_the_page_uses_tls(check, daemon, files):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(files["authority"])
    first = issue(files, authority)
    page = Page(daemon, "--certificate", files["certificate"], "--key", files["key"])
    page.trust = str(files["authority"])
    check("the links begin with https", page.base.startswith("https://"), page.base)
    status, headers, _ = page.request("GET", "/")
    check.equal("the page answers", status, 200)
    check("browsers remember to use TLS", "max-age" in headers.get("Strict-Transport-Security", ""), headers)
    check("no cookie is set", "Set-Cookie" not in headers, headers)
    status, headers, _ = page.request("GET", "/", {"Host": f"localhost:{page.port}"})
    check("other programs of this machine are not affected", status == 200 and "Strict-Transport-Security" not in headers, headers)
    check.equal("calls work", page.call("GetStatus")[0], 200)
    check.equal("another page is refused", page.request("GET", "/", {"Origin": "https://evil.example"})[0], 403)
    check("a request without TLS gets no answer", b"HTTP/" not in page.raw("GET / HTTP/1.1\nHost: HOST\n\n"))
    daemon.send({"type": "title", "title": "An evening", "room": "main"})
    connection, stream = page.events()
    check("a stream is open", stream.readline() == b"event: state\n")
    check("the certificate is the given one", serial(page).strip() == first.strip())
    second = issue(files, authority)
    page.process.send_signal(signal.SIGHUP)
    wait_for(lambda: serial(page).strip() == second.strip(), "the new certificate")
    for name, text in (("key", "no key"), ("certificate", "no certificate")):
        files[name].write_text(text)
        page.process.send_signal(signal.SIGHUP)
        wait_for(lambda: f"{name}.pem" in page.log.read_text(), "a message about the file")
        check(f"a bad {name} leaves the old certificate in use", serial(page).strip() == second.strip())
    check("the open stream continues", stream.readline().startswith(b"id: "))
    connection.close()
    check.equal("the page ends", page.stop(), 0)


def test_addresses_without_tls_are_refused(check, programs, files):
    authority, other = trustme.CA(), {name: path.with_suffix(".other") for name, path in files.items()}
    issue(files, authority)
    issue(other, authority)
    tls = ["--certificate", files["certificate"], "--key", files["key"]]
    for options, status, reason in [
            (["--address", "0.0.0.0"], 64, "--certificate"), (["--address", "::"], 64, "--certificate"),
            (["--address", "192.0.2.1"], 64, "--certificate"), (["--address", "page.example"], 64, "IP address"),
            (["--address", "0.0.0.0", *tls], 64, "--url"), (tls[:2], 64, "together"), (tls[2:], 64, "together"),
            ([*tls, "--url", "http://page.example"], 64, "https://"),
            ([*tls[:3], other["key"]], 1, "not the private key"), (["--certificate", "/nowhere", *tls[2:]], 1, "/nowhere")]:
        run = subprocess.run([programs / "livehost-web", "--port", "0", *options], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=60)
        check(f"{options} is refused with the remedy", run.returncode == status and reason in run.stderr, run)


def test_credentials_of_systemd_are_used(check, daemon, files):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(files["authority"])
    issue(files, authority)
    directory = files["key"].parent
    for name in ("certificate", "key"):
        files[name].rename(directory / name)
    page = Page(daemon, "--people", directory / "people", environment={"CREDENTIALS_DIRECTORY": str(directory)})
    page.trust = str(files["authority"])
    check("the page uses the credentials", page.base.startswith("https://") and page.call("GetStatus")[0] == 200, page.base)
    page.stop()
