import { createDashboard } from '../api/dashboard.ts';
import { chooseProject, visibleProjects } from '../api/project.ts';
import { custom } from '../framework/declare.ts';
import { unixUrl } from '../profiles/connection.ts';
import { profileFile } from '../profiles/file.ts';

export const use = custom('use <project>', {
  help: 'Set the project that commands use by default',
  args: { project: 'Project ID or name' },
  routes: ['GET /token', 'GET /projects'],
  async run({ connection, shell, output, signal }, { project: named }) {
    const { kind, profile, profileName, dashboard } = await connection();
    const { target, token } = dashboard();
    const api = createDashboard({ target, token, version: shell.version, signal });
    const project = chooseProject(await visibleProjects(api, kind), named);
    const file = profileFile(shell);
    const { profiles } = await file.read();
    const url = target.socketPath === null ? target.url : unixUrl(target.socketPath);
    const saved = { ...profile, url, project: project.id };
    await file.write({ ...profiles, profiles: { ...profiles.profiles, [profileName]: saved } });
    await output.value(project, ({ id, name }) => `Commands now use project ${name} (ID ${id}).`);
  },
});
