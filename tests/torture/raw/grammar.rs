//! The requests in a stream of bytes by RFC 9112 and 9110, read as strictly as required.
//!
//! Where these leave a server the choice, the request counts as good, so that both answers are allowed: the
//! end of a body that has not arrived, an invalid body of a request that does not use one.

/// Methods of the requests that a server may carry out, in order; bytes after the last one are no request.
pub fn good(mut bytes: &[u8]) -> Vec<String> {
    let mut methods = Vec::new();
    loop {
        // Empty lines before a request are ignored (9112 2.2).
        while let Some(rest) = bytes.strip_prefix(b"\r\n").or_else(|| bytes.strip_prefix(b"\n")) {
            bytes = rest;
        }
        let Some(head) = Head::read(&mut bytes) else { return methods };
        let method = head.method.clone();
        let has_use = !["GET", "HEAD"].contains(&method.as_str());
        let body = head.body(&mut bytes);
        if body == Body::Bad && has_use {
            return methods;
        }
        methods.push(method);
        if body != Body::Whole || head.is_last() {
            return methods;
        }
    }
}

#[derive(PartialEq, Clone, Copy)]
enum Body {
    Whole,
    Cut,
    Bad,
}

struct Head {
    method: String,
    is_old: bool,
    /// Names in lower case.
    fields: Vec<(String, Vec<u8>)>,
}

/// The bytes of the next line, without its end; `None` if it has no end, or contains a carriage return.
fn line<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
    *bytes = rest;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.contains(&b'\r')).then_some(line)
}

/// 9110 5.6.2.
fn is_token(text: &[u8]) -> bool {
    !text.is_empty()
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// A host as in the URI standard, with or without a port (9112 3.2, 3986 3.2.2); an empty one is allowed.
fn is_host(text: &[u8]) -> bool {
    let end = text
        .iter()
        .rposition(|byte| *byte == b':')
        .filter(|at| text[*at..].iter().skip(1).all(u8::is_ascii_digit));
    let name = &text[..end.unwrap_or(text.len())];
    match name.strip_prefix(b"[") {
        Some(address) => address.strip_suffix(b"]").is_some_and(|address| {
            address.iter().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(byte))
        }),
        None => name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(byte)),
    }
}

impl Head {
    fn read(bytes: &mut &[u8]) -> Option<Head> {
        let mut parts = line(bytes)?.split(|byte| *byte == b' ');
        let (method, target, version) = (parts.next()?, parts.next()?, parts.next()?);
        let is_old = version == b"HTTP/1.0";
        let is_target = !target.is_empty() && target.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
        if parts.next().is_some() || !is_token(method) || !is_target || !(is_old || version == b"HTTP/1.1") {
            return None;
        }
        let mut fields = Vec::new();
        loop {
            let line = line(bytes)?;
            if line.is_empty() {
                break;
            }
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            let is_value = value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f));
            if !is_token(name) || !is_value {
                return None;
            }
            fields.push((String::from_utf8_lossy(name).to_lowercase(), value.to_vec()));
        }
        let head = Head { method: String::from_utf8_lossy(method).into_owned(), is_old, fields };
        head.is_framed().then_some(head)
    }

    fn values(&self, name: &str) -> Vec<&[u8]> {
        let named = self.fields.iter().filter(|(known, _)| known == name);
        named.map(|(_, value)| &value[..]).collect()
    }

    /// Exactly one Host, and a way to find the end of the body; with a transfer coding any length is invalid
    /// (9112 3.2, 6.1, 6.3).
    fn is_framed(&self) -> bool {
        let hosts = self.values("host");
        let codings = self.values("transfer-encoding");
        let lengths = self.lengths();
        let has_host = match hosts[..] {
            [] => self.is_old,
            [host] => is_host(host),
            _ => false,
        };
        let is_coded =
            codings.is_empty() || (codings.len() == 1 && codings[0].eq_ignore_ascii_case(b"chunked"));
        has_host && is_coded && (!codings.is_empty() || lengths.is_some())
    }

    /// The announced lengths, which may be repeated; `None` if one is no number, or they differ.
    fn lengths(&self) -> Option<Option<usize>> {
        let mut found = None;
        for value in self.values("content-length") {
            for one in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                let digits = !one.is_empty() && one.iter().all(u8::is_ascii_digit);
                let length = digits.then(|| str::from_utf8(one).ok()?.parse::<usize>().ok()).flatten()?;
                if found.is_some_and(|before| before != length) {
                    return None;
                }
                found = Some(length);
            }
        }
        Some(found)
    }

    /// Whether this request is the last one: if two lengths could be meant (9112 6.1), or its client said so.
    fn is_last(&self) -> bool {
        let says =
            |what: &[u8]| self.values("connection").iter().any(|value| value.eq_ignore_ascii_case(what));
        says(b"close")
            || (self.is_old && !says(b"keep-alive"))
            || !self.values("transfer-encoding").is_empty()
    }

    fn body(&self, bytes: &mut &[u8]) -> Body {
        if !self.values("transfer-encoding").is_empty() {
            return chunked(bytes);
        }
        match self.lengths().flatten() {
            Some(length) if length > bytes.len() => Body::Cut,
            length => {
                *bytes = &bytes[length.unwrap_or(0)..];
                Body::Whole
            }
        }
    }
}

/// 9112 7.1.
fn chunked(bytes: &mut &[u8]) -> Body {
    loop {
        if !bytes.contains(&b'\n') {
            return Body::Cut;
        }
        let Some(line) = line(bytes) else { return Body::Bad };
        let size = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
        let is_size = !size.is_empty() && size.iter().all(u8::is_ascii_hexdigit);
        let size = str::from_utf8(size).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|_| is_size) else { return Body::Bad };
        if size == 0 {
            // Regardless of what follows: nothing more is read from this connection.
            return Body::Whole;
        }
        if size >= bytes.len() {
            return Body::Cut;
        }
        *bytes = &bytes[size..];
        let Some(rest) = bytes.strip_prefix(b"\r\n").or_else(|| bytes.strip_prefix(b"\n")) else {
            return if *bytes == b"\r" { Body::Cut } else { Body::Bad };
        };
        *bytes = rest;
    }
}
