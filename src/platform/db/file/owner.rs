//! Whom the files beside a database belong to.

use std::path::Path;

/// The name of a user, or the number where it has none.
pub fn name_of(uid: u32) -> String {
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&accounts, uid).unwrap_or_else(|| uid.to_string())
}

fn name_in(accounts: &str, uid: u32) -> Option<String> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

/// Whom a file belongs to that this user may not reach: it, or the folder that keeps this user out.
#[cfg_attr(not(unix), allow(unused_variables))]
pub fn owner_of(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let path = std::path::absolute(path).ok()?;
        let reached = path.ancestors().find_map(|path| std::fs::metadata(path).ok())?;
        Some(name_of(std::os::unix::fs::MetadataExt::uid(&reached)))
    }
    #[cfg(not(unix))]
    None
}

/// Gives a file to whom another file or a folder belongs: what root makes for the service belongs to the service. A link is
/// given itself and not what it leads to: the service may have put it there.
pub fn give_to_owner_of(owned: &Path, file: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, lchown};
        let (owner, own) = (std::fs::metadata(owned)?, std::fs::symlink_metadata(file)?);
        if own.uid() != owner.uid() {
            lchown(file, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (owned, file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn a_user_is_named_as_the_system_names_it() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\nbroken\nanna:x:1001:1001::/home/anna:/bin/sh\n";
        for (id, name) in [(0, Some("root")), (1001, Some("anna")), (100, None)] {
            assert_eq!(name_in(accounts, id).as_deref(), name, "{id}");
        }
    }
}
