//! The certificate authorities that fetches trust.

use ureq::tls::{Certificate, RootCerts};

/// Returns the authorities that this machine trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` apply),
/// because some networks have their own; on a machine without any, Mozilla's.
pub(super) fn roots() -> RootCerts {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return RootCerts::WebPki;
    }
    RootCerts::from(
        found.iter().map(|root| Certificate::from_der(root).to_owned()).collect::<Vec<_>>(),
    )
}
