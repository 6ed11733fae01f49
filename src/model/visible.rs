//! Which projects somebody may read.

use super::ProjectId;

/// The projects somebody may read. Every list of what belongs to projects asks for one, so that none
/// can forget it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible(Option<Vec<ProjectId>>);

impl Visible {
    /// Every project.
    pub const ALL: Visible = Visible(None);

    /// These alone.
    pub fn only(projects: impl IntoIterator<Item = ProjectId>) -> Visible {
        Visible(Some(projects.into_iter().collect()))
    }

    /// The projects; none where it is every one.
    pub fn projects(&self) -> Option<&[ProjectId]> {
        self.0.as_deref()
    }

    /// Whether this project is among them.
    pub fn shows(&self, project: ProjectId) -> bool {
        self.0.as_ref().is_none_or(|projects| projects.contains(&project))
    }

    /// Those that are among both.
    pub fn and(&self, other: &Visible) -> Visible {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(projects), Some(_)) => {
                Visible::only(projects.iter().copied().filter(|project| other.shows(*project)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_may_read_is_what_each_may() {
        let [one, two, three] = [1, 2, 3].map(ProjectId);
        let (left, right) = (Visible::only([one, two]), Visible::only([two, three]));
        assert_eq!(left.and(&right), Visible::only([two]));
        assert_eq!(left.and(&Visible::ALL), left);
        assert_eq!(Visible::ALL.and(&right), right);
        assert!(Visible::ALL.shows(three) && !left.shows(three) && !Visible::only([]).shows(one));
    }
}
