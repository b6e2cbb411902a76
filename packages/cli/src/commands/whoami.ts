import type { TokenState } from '@beckon/contract/dashboard';
import { custom } from '../framework/declare.ts';
import type { Words } from '../output/words.ts';
import { unixUrl } from '../profiles/connection.ts';

export const whoami = custom('whoami', {
  help: 'Show which server and account commands use, and the projects they can open',
  routes: ['GET /token', 'GET /projects'],
  async run({ api, connection, output }) {
    const { kind, url, project, dashboard } = await connection();
    if (kind === 'remote') {
      const { data } = await api.call('GET /token', {});
      return output.value(data, (token, words) => [{ server: url, project }, tokenView(token, words)].flat());
    }
    const { data: projects } = await api.call('GET /projects', {});
    const socket = dashboard().target.socketPath ?? '';
    await output.value({ connection: unixUrl(socket), projects }, () => [
      { server: `this machine, ${socket}`, account: 'local shell: owner of every project', project },
      projectRows(projects),
    ]);
  },
});

export function tokenView({ person, scopes, expires_at, projects, label }: TokenState, { when }: Words) {
  return [
    {
      account: `${person.name} (${person.email})`,
      token: label,
      scopes: scopes.join(', '),
      expires: when(expires_at),
    },
    projectRows(projects),
  ];
}

function projectRows(projects: readonly { id: number; name: string }[]) {
  return {
    title: 'Projects',
    rows: projects.map(({ id, name }) => ({ id, name })),
    empty: 'None. Ask an admin for a role in one.',
  };
}
