//! Where a TPU worker listens.

use super::TpuError;
use crate::core::Result;
use std::fmt;
use std::net::Ipv4Addr;

const DEFAULT_PORT: u16 = 8470;

/// Where a TPU worker listens.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// Reads `10.240.1.2` or `grpc://host`, both with or without a port.
    ///
    /// # Errors
    /// `TPU004` for anything else.
    pub(super) fn read(text: &str) -> Result<Self> {
        Address::parse(text).ok_or_else(|| TpuError::Name { found: text.to_string() }.into())
    }

    fn parse(text: &str) -> Option<Self> {
        let (rest, may_have_name) = match text.strip_prefix("grpc://") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (host, port) = match rest.split_once(':') {
            Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => (host, port.parse().ok()?),
            Some(_) => return None,
            None => (rest, DEFAULT_PORT),
        };
        let is_number = host.bytes().all(|letter| letter.is_ascii_digit() || letter == b'.');
        let valid = if is_number { host.parse::<Ipv4Addr>().is_ok() } else { may_have_name && is_host_name(host) };
        (valid && port != 0).then(|| Address { host: host.to_string(), port })
    }

    /// The address that the simulation gives to host `host` of a named TPU: 10.240.1.2 and what follows.
    pub(super) fn simulated(host: usize) -> Self {
        let number = host + 2;
        Address { host: format!("10.240.{}.{}", 1 + number / 256, number % 256), port: DEFAULT_PORT }
    }
}

/// Whether every part between dots has letters, digits and inner hyphens only.
fn is_host_name(host: &str) -> bool {
    host.split('.').all(|part| {
        let outer_hyphen = part.starts_with('-') || part.ends_with('-');
        !part.is_empty() && !outer_hyphen && part.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
    })
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}
