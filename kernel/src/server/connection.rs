use std::net::IpAddr;
use std::path::Path;

use jupyter_protocol::ConnectionInfo;
use jupyter_protocol::connection_info::Transport;

use crate::error::{Context, Error, Result};

/// Reads a connection file and refuses what would let anybody on the network run code here.
pub fn read(file: &Path) -> Result<ConnectionInfo> {
    let text = std::fs::read_to_string(file)
        .context("KERNEL040", format!("the connection file {} cannot be read", file.display()))?;
    let info: ConnectionInfo = serde_json::from_str(&text)
        .context("KERNEL040", format!("{} does not describe a connection", file.display()))?;
    let scheme = &info.signature_scheme;
    if !info.key.is_empty() && scheme != "hmac-sha256" {
        return Err(Error::new("KERNEL041", format!("messages signed by {scheme:?} cannot be checked"))
            .help("use the scheme hmac-sha256, which is Jupyter's default"));
    }
    let local = match info.transport {
        Transport::IPC => true,
        Transport::TCP => info.ip.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()) || info.ip == "localhost",
    };
    if info.key.is_empty() && !local {
        return Err(Error::new(
            "KERNEL042",
            format!("without a key anybody who reaches {} could run code here", info.ip),
        )
        .help("give the connection a key, or listen on 127.0.0.1"));
    }
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(key: &str, ip: &str, scheme: &str) -> Result<ConnectionInfo> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("connection.json");
        let text = serde_json::json!({
            "ip": ip, "transport": "tcp", "shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4,
            "hb_port": 5, "key": key, "signature_scheme": scheme,
        });
        std::fs::write(&file, text.to_string()).unwrap();
        read(&file)
    }

    #[test]
    fn an_open_door_is_refused() {
        assert!(read_with("secret", "0.0.0.0", "hmac-sha256").is_ok());
        assert!(read_with("", "127.0.0.1", "hmac-sha256").is_ok());
        assert!(read_with("", "::1", "hmac-sha256").is_ok());
        assert_eq!(read_with("", "0.0.0.0", "hmac-sha256").unwrap_err().code(), "KERNEL042");
        assert_eq!(read_with("", "192.168.0.7", "hmac-sha256").unwrap_err().code(), "KERNEL042");
        assert_eq!(read_with("secret", "127.0.0.1", "hmac-md5").unwrap_err().code(), "KERNEL041");
        assert_eq!(read(Path::new("/nowhere/at/all")).unwrap_err().code(), "KERNEL040");
    }
}
