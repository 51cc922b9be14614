//! Types of addresses of networks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A type of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Network {
    /// Addresses of hosts, with the number of bits that their network has.
    Inet,
    /// Addresses of networks: behind the bits of the network there are none.
    Cidr,
}

impl Network {
    /// What PostgreSQL calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inet => "inet",
            Self::Cidr => "cidr",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inet => "INET",
            Self::Cidr => "CIDR",
        })
    }
}
