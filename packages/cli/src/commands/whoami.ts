import type { TokenState } from '@beckon/contract/dashboard';
import { custom } from '../framework/declare.ts';
import { viewOf } from '../output/auto.ts';
import type { Block } from '../output/view.ts';

export const whoami = custom('whoami', {
  help: 'Show which server and account commands use, and the projects they can open',
  routes: ['GET /token', 'GET /projects'],
  async run({ api, connection, output }) {
    const { kind, url, project, dashboard } = await connection();
    if (kind === 'remote') {
      const { data } = await api.call('GET /token', {});
      return output.value(data, (token) => [{ server: url, project }, ...tokenView(token)]);
    }
    const { data: projects } = await api.call('GET /projects', {});
    const socket = dashboard().target.socketPath ?? '';
    await output.value({ connection: url, projects }, () => [
      { server: `this machine, ${socket}`, account: 'local shell: owner of every project', project },
      { title: 'Projects', rows: projects.map(({ id, name }) => ({ id, name })) },
    ]);
  },
});

export function tokenView({ member: person, projects, ...token }: TokenState): Block[] {
  return [
    { account: `${person.name} (${person.email})` },
    viewOf(token),
    { title: 'Projects', rows: projects, empty: 'None. Ask an admin for a role in one.' },
  ];
}
