//! Whose word is taken for who a server is.

use ureq::tls::{Certificate, RootCerts};

/// The authorities that this machine trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` are heeded), for there are networks with one of
/// their own; on a machine that knows none, Mozilla's.
pub(super) fn roots() -> RootCerts {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return RootCerts::WebPki;
    }
    RootCerts::from(found.iter().map(|root| Certificate::from_der(root).to_owned()).collect::<Vec<_>>())
}
