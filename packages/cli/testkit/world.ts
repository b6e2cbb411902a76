import { afterAll } from 'vitest';
import type { DeviceAnswer, DeviceBegun, TokenScope } from '@beckon/contract/dashboard';
import { offerSetup } from '../../server/src/flows/team/index.ts';
import { createKey } from '../../server/src/flows/create-key.ts';
import { freePort } from '../../server/testkit/free-port.ts';
import { PEPPER, type TestServer, testServer } from '../../server/testkit/server.ts';
import { tokenOf } from '../../server/testkit/team.ts';

/** A whole server, with Ada who set it up, her project, and a key of it. */
export type World = {
  server: TestServer;
  url: string;
  projectId: number;
  apiKey: string;
  /** Ada at her browser: approves what a program asks for. */
  approve: (userCode: string, scopes?: TokenScope[]) => Promise<void>;
  tokenFor: (scopes: TokenScope[]) => Promise<string>;
};

const PASSWORD = 'correct horse battery';

export async function testWorld(): Promise<World> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const server = await testServer({ listen: { port, publicUrl: url } });
  afterAll(() => server.stop());
  const cookies = new Map<string, string>();

  async function ask<T>(path: string, body: object, headers: Record<string, string>): Promise<T> {
    const answer = await fetch(`${url}/api/dashboard${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      cookies.set(pair.slice(0, pair.indexOf('=')), pair);
    }
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return (JSON.parse(text) as { data: T }).data;
  }
  const asAda = <T>(path: string, body: object): Promise<T> =>
    ask(path, body, { origin: url, cookie: [...cookies.values()].join('; ') });

  const offered = await offerSetup(server.db, url);
  const person = { email: 'ada@x.org', password: PASSWORD, project: 'Acme' };
  const token = tokenOf(offered?.url ?? '');
  const { project_id: projectId } = await asAda<{ project_id: number }>('/setup', { token, ...person });
  const key = await createKey({ db: server.db, pepper: PEPPER }, { projectId, label: 'server' });

  async function approve(userCode: string, scopes?: TokenScope[]): Promise<void> {
    await asAda(`/device/${userCode}/approve`, scopes === undefined ? {} : { scopes });
  }
  return {
    server,
    url,
    projectId,
    apiKey: key.secret,
    approve,
    async tokenFor(scopes) {
      const begun = await ask<DeviceBegun>('/device', { label: 'laptop', scopes }, {});
      await approve(begun.user_code);
      const made = await ask<DeviceAnswer>('/device/token', { device_code: begun.device_code }, {});
      if (made.state !== 'approved') throw new Error(made.state);
      return made.token;
    },
  };
}
