import { chooseProject, visibleProjects } from '../api/project.ts';
import { custom } from '../framework/declare.ts';
import { saveProfile } from '../profiles/change.ts';

export const use = custom('use <project>', {
  help: 'Set the project that commands use by default',
  args: { project: 'Project ID or name' },
  routes: ['GET /token', 'GET /projects'],
  async run(context, { project: named }) {
    const connection = await context.connection();
    const project = chooseProject(await visibleProjects(context.api, connection.kind), named);
    await saveProfile(context, { connection, values: { project: project.id } });
    await context.output.value(project, ({ id, name }) => `Commands now use project ${name} (ID ${id}).`);
  },
});
