import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { DeviceTokenResult, DeviceAuthorization, TokenScope } from '@beckon/contract/dashboard';
import { offerSetup } from '../../server/src/modules/workspace/index.ts';
import { createKey } from '../../server/src/modules/ingest/index.ts';
import { freePort } from '../../server/testing/servers/free-port.ts';
import {
  PEPPER,
  type TestServer,
  testServer,
  type TestServerOptions,
} from '../../server/testing/servers/server.ts';
import { tokenOf } from '../../server/testing/factories/team.ts';

/** A whole server with Ada, its owner, her project “Acme”, and an API key of it. */
export type World = {
  server: TestServer;
  url: string;
  projectId: number;
  apiKey: string;
  /** Approves a login in Ada's browser. */
  approve: (userCode: string, scopes?: TokenScope[]) => Promise<void>;
  tokenFor: (scopes: TokenScope[]) => Promise<string>;
  /** A DATA_DIR with a local socket, on which every command may do what an owner may. */
  localSocket: () => Promise<string>;
};

const PASSWORD = 'correct horse battery';

/** `more`: other options of the server, such as a resolver. */
export async function testWorld(more: TestServerOptions['more'] = {}): Promise<World> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'beckon-data-'));
  const localShell = join(dataDir, 'beckon.sock');
  const server = await testServer({ listen: { port, publicUrl: url }, more: { ...more, localShell } });
  afterAll(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const cookies = new Map<string, string>();
  const session = (): Record<string, string> => ({
    origin: url,
    cookie: [...cookies.values()].join('; '),
  });

  async function post<T>(path: string, body: object, headers: Record<string, string>): Promise<T> {
    const response = await fetch(`${url}/api/dashboard${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      cookies.set(pair.slice(0, pair.indexOf('=')), pair);
    }
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return (JSON.parse(text) as { data: T }).data;
  }
  const postAsAda = <T>(path: string, body: object): Promise<T> => post(path, body, session());

  const offered = await offerSetup(server.db, url);
  const person = { email: 'ada@x.org', password: PASSWORD, project: 'Acme' };
  const token = tokenOf(offered?.url ?? '');
  const { project_id: projectId } = await postAsAda<{ project_id: number }>('/setup', { token, ...person });
  const key = await createKey({ db: server.db, pepper: PEPPER }, { projectId, label: 'server' });

  async function approve(userCode: string, scopes?: TokenScope[]): Promise<void> {
    await postAsAda(`/device/${userCode}/approve`, scopes === undefined ? {} : { scopes });
  }
  return {
    server,
    url,
    projectId,
    apiKey: key.secret,
    approve,
    async tokenFor(scopes) {
      const begun = await post<DeviceAuthorization>('/device', { label: 'laptop', scopes }, {});
      await approve(begun.user_code);
      const made = await post<DeviceTokenResult>('/device/token', { device_code: begun.device_code }, {});
      if (made.state !== 'approved') throw new Error(made.state);
      return made.token;
    },
    localSocket: async () => dataDir,
  };
}
