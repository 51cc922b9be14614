//! SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side, by a stored verifier: the password is never known here.
//!
//! Key decision: without channel binding. A client that offers it and was not offered it here may say so (`y`), one that
//! demands it (`p`) is refused.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nodewise::{SqlError, SqlState};
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};
use ring::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use ring::rand::{SecureRandom, SystemRandom};

use crate::requests::violation;

/// The name of the mechanism.
pub const MECHANISM: &str = "SCRAM-SHA-256";

/// Rounds of new verifiers, as PostgreSQL has it.
const ROUNDS: u32 = 4096;
/// Rounds that a verifier may ask of a client.
const ROUNDS_MAX: u32 = 10_000_000;
const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 18;

/// What is kept of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    rounds: u32,
    salt: Vec<u8>,
    stored_key: Vec<u8>,
    server_key: Vec<u8>,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Verifier of {} rounds", self.rounds)
    }
}

impl Verifier {
    /// Of a password, with a salt of its own. Only printable ASCII: of other letters clients make different bytes.
    pub fn of_password(password: &str) -> Result<Self, String> {
        if password.is_empty() || !password.bytes().all(|it| (b' '..=b'~').contains(&it)) {
            return Err("a password has at least one letter, and all are printable ASCII".into());
        }
        let salt = random::<SALT_BYTES>().ok_or("there is no randomness for a salt")?;
        Ok(Self::with_salt(password, &salt, ROUNDS))
    }

    fn with_salt(password: &str, salt: &[u8], rounds: u32) -> Self {
        let mut salted = [0; SHA256_OUTPUT_LEN];
        let iterations = std::num::NonZeroU32::new(rounds).unwrap_or(std::num::NonZeroU32::MIN);
        derive(PBKDF2_HMAC_SHA256, iterations, salt, password.as_bytes(), &mut salted);
        let client_key = hmac(&salted, b"Client Key");
        Self {
            rounds,
            salt: salt.to_vec(),
            stored_key: digest(&SHA256, &client_key).as_ref().to_vec(),
            server_key: hmac(&salted, b"Server Key"),
        }
    }

    /// Whether it is that of a password.
    pub fn is_of(&self, password: &str) -> bool {
        let made = Self::with_salt(password, &self.salt, self.rounds);
        same(&made.stored_key, &self.stored_key)
    }

    /// As PostgreSQL keeps it in `pg_authid`: `SCRAM-SHA-256$rounds:salt$stored:server`.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, keys) = text.strip_prefix(MECHANISM)?.strip_prefix('$')?.split_once('$')?;
        let (rounds, salt) = head.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let key = |text: &str| {
            let key = STANDARD.decode(text).ok()?;
            (key.len() == SHA256_OUTPUT_LEN).then_some(key)
        };
        let rounds = rounds.parse().ok().filter(|it| (1..=ROUNDS_MAX).contains(it))?;
        let salt = STANDARD.decode(salt).ok().filter(|it| !it.is_empty())?;
        Some(Self { rounds, salt, stored_key: key(stored)?, server_key: key(server)? })
    }

    /// The text that [`Verifier::parse`] reads.
    pub fn text(&self) -> String {
        let [salt, stored, server] =
            [&self.salt, &self.stored_key, &self.server_key].map(|it| STANDARD.encode(it));
        format!("{MECHANISM}${}:{salt}${stored}:{server}", self.rounds)
    }

    /// One that no password has, for a user that there is not: a client learns of neither before it has tried. The same user
    /// gets the same salt each time.
    pub fn of_nobody(user: &str, secret: &[u8]) -> Self {
        let salt = hmac(secret, user.as_bytes())[..SALT_BYTES].to_vec();
        let [stored_key, server_key] =
            [&b"stored"[..], b"server"].map(|it| hmac(secret, &[it, user.as_bytes()].concat()));
        Self { rounds: ROUNDS, salt, stored_key, server_key }
    }
}

/// The exchange after the client's first message.
pub struct Exchange {
    verifier: Verifier,
    /// The head of the client's first message, that its last one repeats.
    header: String,
    client_first: String,
    server_first: String,
    nonce: String,
}

impl Exchange {
    /// Answers the client's first message.
    pub fn begin(message: &str, verifier: Verifier) -> Result<(Self, String), SqlError> {
        let nonce = random::<NONCE_BYTES>().ok_or_else(|| SqlError::internal("no randomness"))?;
        Self::begin_with(message, verifier, &STANDARD.encode(nonce))
    }

    fn begin_with(
        message: &str,
        verifier: Verifier,
        own: &str,
    ) -> Result<(Self, String), SqlError> {
        let mut parts = message.splitn(3, ',');
        let (Some(binding), Some(identity), Some(bare)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed());
        };
        match binding {
            "n" | "y" => {}
            _ if binding.starts_with("p=") => {
                return Err(SqlError::new(SqlState("28000"), "channel binding is not supported"));
            }
            _ => return Err(malformed()),
        }
        if !identity.is_empty() && !identity.starts_with("a=") {
            return Err(malformed());
        }
        // The user is the one of the start; what stands here is not read.
        let mut attributes = bare.split(',');
        let name = attributes.next().filter(|it| it.starts_with("n="));
        let client = attributes.next().and_then(|it| it.strip_prefix("r="));
        let printable = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_graphic());
        let (Some(_), Some(client)) = (name, client.filter(printable)) else {
            return Err(malformed());
        };
        let nonce = format!("{client}{own}");
        let salt = STANDARD.encode(&verifier.salt);
        let server_first = format!("r={nonce},s={salt},i={}", verifier.rounds);
        let header = format!("{binding},{identity},");
        let client_first = bare.to_owned();
        let exchange =
            Self { verifier, header, client_first, server_first: server_first.clone(), nonce };
        Ok((exchange, server_first))
    }

    /// Checks the client's last message; the answer by which it knows the server. `None` where the password is wrong.
    pub fn finish(self, message: &str) -> Result<Option<String>, SqlError> {
        let (without_proof, proof) = message.rsplit_once(",p=").ok_or_else(malformed)?;
        let mut attributes = without_proof.split(',');
        let binding = attributes.next().and_then(|it| it.strip_prefix("c="));
        let nonce = attributes.next().and_then(|it| it.strip_prefix("r="));
        let binding = binding.and_then(|it| STANDARD.decode(it).ok()).ok_or_else(malformed)?;
        let proof = STANDARD.decode(proof).map_err(|_| malformed())?;
        if binding != self.header.as_bytes() || nonce != Some(&self.nonce) {
            return Err(malformed());
        }
        if proof.len() != SHA256_OUTPUT_LEN {
            return Err(malformed());
        }
        let said = format!("{},{},{without_proof}", self.client_first, self.server_first);
        let signature = hmac(&self.verifier.stored_key, said.as_bytes());
        let client_key: Vec<u8> = proof.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
        let is_right = same(digest(&SHA256, &client_key).as_ref(), &self.verifier.stored_key);
        let answer = hmac(&self.verifier.server_key, said.as_bytes());
        Ok(is_right.then(|| format!("v={}", STANDARD.encode(answer))))
    }
}

fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, key), text).as_ref().to_vec()
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    let differs = a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differs) == 0
}

/// Bytes that nobody can guess.
pub fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).ok().map(|()| bytes)
}

fn malformed() -> SqlError {
    violation("malformed SCRAM message")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677, section 3.
    #[test]
    fn the_exchange_of_the_standard_comes_out() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let verifier = Verifier::with_salt("pencil", &salt, 4096);
        let own = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let first = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
        let begin = || Exchange::begin_with(first, verifier.clone(), own).unwrap();
        let (exchange, server_first) = begin();
        let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        assert_eq!(server_first, format!("r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"));
        let last = |proof: &str| format!("c=biws,r={nonce},p={proof}");
        let proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let answer = exchange.finish(&last(proof)).unwrap();
        assert_eq!(answer.as_deref(), Some("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        let wrong = STANDARD.encode([7; 32]);
        assert_eq!(begin().0.finish(&last(&wrong)), Ok(None));
        for malformed in [
            format!("c=biws,r={nonce}x,p={proof}"),
            format!("c=eSws,r={nonce},p={proof}"),
            format!("c=biws,r={nonce},p=AAAA"),
            "c=biws".into(),
            String::new(),
        ] {
            assert!(begin().0.finish(&malformed).is_err(), "{malformed}");
        }
    }

    #[test]
    fn first_messages_that_are_wrong_are_refused() {
        let verifier = || Verifier::of_password("x").unwrap();
        for wrong in [
            "",
            "n",
            "n,,",
            "p=tls-server-end-point,,n=,r=x",
            "q,,n=,r=x",
            "n,b,n=,r=x",
            "n,,r=x",
            "n,,n=,r=",
        ] {
            assert!(Exchange::begin(wrong, verifier()).is_err(), "{wrong}");
        }
        assert!(Exchange::begin("y,,n=,r=x", verifier()).is_ok());
    }

    #[test]
    fn verifiers_are_written_as_postgres_has_them() {
        let verifier = Verifier::of_password("secret").unwrap();
        assert_eq!(Verifier::parse(&verifier.text()).as_ref(), Some(&verifier));
        assert!(!format!("{verifier:?}").contains('$'));
        for wrong in
            ["", "md5abc", "SCRAM-SHA-256$0:AA==$AA==:AA==", "SCRAM-SHA-256$4096:AA==$AA==:AA=="]
        {
            assert_eq!(Verifier::parse(wrong), None, "{wrong}");
        }
        assert!(Verifier::of_password("").is_err() && Verifier::of_password("\u{e4}").is_err());
        let nobody = |user| Verifier::of_nobody(user, b"secret");
        assert!(nobody("a") == nobody("a") && nobody("a").salt != nobody("b").salt);
        assert!(verifier.is_of("secret") && !verifier.is_of("Secret") && !verifier.is_of(""));
        assert!(same(b"a", b"a") && !same(b"a", b"b") && !same(b"a", b"ab"));
    }
}
