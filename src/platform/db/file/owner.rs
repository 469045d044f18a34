//! Owners of the files beside a database.

use std::path::Path;

/// The name of a user, or the number if there is no name.
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

/// The owner of a file that this user may not access: of the file itself, or of the folder that denies
/// access.
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

/// Gives a file to the owner of another file or folder: files that root creates for the service belong to the
/// service. Changes a link itself, not its target: the service may have put the link there.
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
