//! `sepia project`

use super::args::{ProjectCommand, ProjectSessionArgs};
use super::exit::Failure;
use super::table::{self, Column};
use super::{output, setup};
use crate::plane::{Plane, Project};
use crate::text::clean_line;
use std::io::Write;

pub(super) async fn run(command: ProjectCommand) -> Result<(), Failure> {
    let plane = setup::plane()?;
    match command {
        ProjectCommand::List { json } => {
            let projects = plane.projects().await?;
            if json { output::json(&projects) } else { print(&projects) }
        }
        ProjectCommand::Create { name } => output::line(&plane.create_project(&name).await?.id),
        ProjectCommand::Rename { project, name } => {
            let project = plane.find_project(&project).await?;
            let renamed = plane.rename_project(&project.id, &name).await?;
            output::line(&format!("{} is renamed", shown(&renamed)))
        }
        ProjectCommand::Delete { project } => {
            let project = plane.find_project(&project).await?;
            plane.delete_project(&project.id).await?;
            output::line(&format!("{} is deleted; its sessions are where they were", shown(&project)))
        }
        ProjectCommand::Add(args) => set(&plane, args, true).await,
        ProjectCommand::Remove(args) => set(&plane, args, false).await,
    }
}

async fn set(plane: &Plane, args: ProjectSessionArgs, inside: bool) -> Result<(), Failure> {
    let project = plane.find_project(&args.project).await?;
    let session = plane.resolve(&args.id, args.agent.as_deref()).await?;
    let agent = plane.set_in_project(&project.id, &session.id, session.agent.as_deref(), inside).await?;
    let is = if inside { "is in" } else { "is not in" };
    output::line(&format!("{} ({agent}) {is} {}", clean_line(&session.id, 512), shown(&project)))
}

fn print(projects: &[Project]) -> Result<(), Failure> {
    let columns = [Column::fixed("ID"), Column::shrinking("NAME", 16)];
    let row = |project: &Project| vec![clean_line(&project.id, 100), clean_line(&project.name, 400)];
    let mut out = output::stdout();
    table::print(&mut out, &columns, projects.iter().map(row))
        .and_then(|()| out.flush())
        .map_err(|e| Failure::output(&e))
}

fn shown(project: &Project) -> String {
    format!("{} ({})", clean_line(&project.id, 100), clean_line(&project.name, 400))
}
