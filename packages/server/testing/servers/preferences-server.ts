import Fastify from 'fastify';
import { idMaker } from '../../src/platform/ids.ts';
import { emailToken } from '../../src/platform/crypto/email-token.ts';
import { silentLog } from '../../src/platform/log.ts';
import { mountChoices } from '../../src/modules/inbound/preferences/routes.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { TOKEN_KEYS } from '../factories/send-services.ts';
import type { Scenario } from '../scenario.ts';

/** The preference pages of recipients, served on a port of their own. */
export type PreferencesServer = {
  url: string;
  /** Submits a form without a connection of its own, and returns the status. */
  press(path: string, form: Record<string, string>): Promise<number>;
  stop(): Promise<void>;
};

export async function preferencesServer(db: Database): Promise<PreferencesServer> {
  const app = Fastify({ logger: false, exposeHeadRoutes: true });
  mountChoices(app, { db, newId: idMaker(db.clock), log: silentLog, tokenKeys: TOKEN_KEYS });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    async press(path, form) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const payload = String(new URLSearchParams(form));
      return (await app.inject({ method: 'POST', url: path, headers, payload })).statusCode;
    },
    stop: () => app.close(),
  };
}

/** Returns the base URL of the email preferences from the newest email to this user. */
export async function linkOf({ server, projectId }: Scenario, userId: string): Promise<string> {
  const [row] = await server.db.query<{ id: string }>(
    `SELECT id FROM beckon.email WHERE project_id = $1 AND external_user_id = $2 ORDER BY claimed_at DESC, id DESC LIMIT 1`,
    [projectId, userId],
  );
  if (!row) throw new Error(`no email was sent to ${userId}`);
  return `/u/${emailToken({ projectId, emailId: row.id }, 'unsubscribe', TOKEN_KEYS)}`;
}
