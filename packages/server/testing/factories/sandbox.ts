import { expect } from 'vitest';
import type { ErrorEntry } from '@beckon/contract';
import type { ClockAdvanced, ProjectClock } from '@beckon/contract/dashboard';
import { createKey } from '../../src/modules/ingest/keys/change-key.ts';
import { setSettings } from '../../src/modules/administration/set-settings.ts';
import { findPair } from '../../src/modules/workspace/projects/sandbox.ts';
import { sendRequest, type CheckedResponse } from '../servers/http-client.ts';
import { PEPPER, type TestServer } from '../servers/server.ts';

/** The sandbox of a project, used as a test author does: by its key alone. */
export type TestSandbox = {
  id: number;
  secret: string;
  post(path: string, body: object, headers?: Record<string, string>): Promise<CheckedResponse>;
  clock(body?: object): Promise<ClockResponse>;
  /** Throws unless it succeeds. */
  advance(text: string): Promise<ClockAdvanced>;
  /** Returns the sent emails in their order. */
  emails(): Promise<{ rule: string; user: string; at: string }[]>;
};

export type ClockResponse = {
  status: number;
  json: { data?: ClockAdvanced & ProjectClock; errors?: ErrorEntry[] };
  errors: ErrorEntry[];
};

export async function testSandbox(
  { url, db }: Pick<TestServer, 'url' | 'db'>,
  liveId: number,
): Promise<TestSandbox> {
  await setSettings(db, liveId, { sandbox: 'on' });
  const { projectId: id, secret } = await createKey(
    { db, pepper: PEPPER },
    { projectId: liveId, label: 'tests', env: 'test' },
  );
  expect((await findPair(db, liveId)).sandboxId).toBe(id);
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
  const sandbox: TestSandbox = {
    id,
    secret,
    post: (path, body, more = {}) =>
      sendRequest(url, {
        method: 'POST',
        path: `/api/v1/${path}`,
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      }),
    clock: clockBy(url, secret),
    async advance(text) {
      const { status, json } = await sandbox.clock({ advance: text });
      expect([status, json]).toEqual([200, expect.anything()]);
      if (!json.data) throw new Error('an answer without data');
      return json.data;
    },
    async emails() {
      const rows = await db.query<{ rule: string; user: string; at: Date }>(
        `SELECT r.name AS rule, m.external_user_id AS user, m.claimed_at AS at FROM beckon.email m
         JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id
         WHERE m.project_id = $1 AND m.state = 'sent' ORDER BY m.claimed_at, m.external_user_id, r.name`,
        [id],
      );
      return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
    },
  };
  return sandbox;
}

/** Reads the test clock or, with a body, moves it, at any server. */
export function clockBy(url: string, secret: string): TestSandbox['clock'] {
  const Authorization = `Bearer ${secret}`;
  return async (body) => {
    const headers = { Authorization, 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(new URL('/api/sandbox/clock', url), { headers, ...init });
    const json = (await response.json()) as ClockResponse['json'];
    return { status: response.status, json, errors: json.errors ?? [] };
  };
}
