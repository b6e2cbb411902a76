import { createHmac } from 'node:crypto';
import { afterAll } from 'vitest';
import type { DeviceTokenResult, DeviceAuthorization, Role, TokenScope } from '@beckon/contract/dashboard';
import { silentLog } from '../../src/platform/log.ts';
import { createTeam, type Team } from '../../src/modules/workspace/members/create-team.ts';
import { offerSetup } from '../../src/modules/workspace/members/links.ts';
import type { DashboardDeps } from '../../src/main/dashboard-routes.ts';
import { DASHBOARD_ORIGIN, type Reply, type TestDashboard, testDashboard } from '../servers/dashboard.ts';
import type { EndpointServer } from '../servers/endpoint-server.ts';

export const PASSWORD = 'correct horse battery';
const TEAM_SECRET = 'of sessions in tests, and of nothing else: 8f1c0a7e';

/** A member's browser: it keeps its cookies and sends the origin of its page. */
export type Browser = {
  cookies: Map<string, string>;
  request(what: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<unknown>>;
};

export type TestTeam = {
  team: Team;
  dashboard: TestDashboard;
  /** Sent emails as text. */
  emails: { to: string; text: string }[];
  browser: (headers?: Record<string, string | undefined>) => Browser;
  /** Sets up as Ada, with Acme as her organization and its first project. */
  setUp: () => Promise<{ ada: Browser; projectId: number }>;
  /** Invites a member from this browser and accepts the invitation. */
  join: (by: Browser, as: { projectId: number; email: string; role: Role }) => Promise<Browser>;
  /** Requests and approves a personal access token of the signed-in member. */
  tokenFor: (person: Browser, scopes: TokenScope[], label?: string) => Promise<string>;
};

type TestTeamOptions = Partial<DashboardDeps> & { publicOrigin?: string; secret?: string };

/** Creates the real dashboard API over a real database. */
export function testTeam(
  { db, database }: EndpointServer,
  { publicOrigin = DASHBOARD_ORIGIN, secret = TEAM_SECRET, ...more }: TestTeamOptions = {},
): TestTeam {
  const team = createTeam({
    db,
    connection: database.connection,
    publicOrigin,
    secrets: [secret],
    log: silentLog,
  });
  const emails: TestTeam['emails'] = [];
  const submit: Awaited<ReturnType<DashboardDeps['openRelay']>>['submit'] = async ({ to }, mime) => {
    emails.push({ to, text: Buffer.from(mime).toString() });
    return { result: 'sent', reply: '250 taken', relayId: null };
  };
  const dashboard = testDashboard(db, { access: team, team, openRelay: async () => ({ submit }), ...more });
  afterAll(async () => {
    await dashboard.close();
    await team.close();
  });

  function browser(ownHeaders: Record<string, string | undefined> = {}): Browser {
    const cookies = new Map<string, string>();
    return {
      cookies,
      async request(what, body, headers = {}) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const all = { origin: publicOrigin, ...(cookie === '' ? {} : { cookie }), ...ownHeaders, ...headers };
        const response = await dashboard.request(what, { body, as: null, headers: all });
        keepCookies(cookies, response.headers['set-cookie']);
        return response;
      },
    };
  }

  return {
    team,
    dashboard,
    emails,
    browser,
    async setUp() {
      const offered = await offerSetup(db, publicOrigin);
      if (!offered) throw new Error('it is set up already');
      const ada = browser();
      const body = { token: tokenOf(offered.url), email: 'ada@x.org', password: PASSWORD, project: 'Acme' };
      const { json, status, text } = await ada.request('POST /setup', body);
      if (status !== 200) throw new Error(text);
      return { ada, projectId: (json.data as { project_id: number }).project_id };
    },
    async tokenFor(person, scopes, label = 'laptop') {
      const program = browser({ origin: undefined });
      const begun = (await program.request('POST /device', { label, scopes })).json
        .data as DeviceAuthorization;
      await person.request('POST /confirm', { password: PASSWORD });
      const { status, text } = await person.request(`POST /device/${begun.user_code}/approve`);
      if (status !== 200) throw new Error(text);
      const { device_code } = begun;
      const fetched = (await program.request('POST /device/token', { device_code })).json
        .data as DeviceTokenResult;
      if (fetched.state !== 'approved') throw new Error(fetched.state);
      return fetched.token;
    },
    async join(by, { projectId, email, role }) {
      const made = await by.request(`POST /projects/${projectId}/invites`, { email, role });
      const token = tokenOf((made.json.data as { link: string }).link);
      const joined = browser();
      const name = email.slice(0, email.indexOf('@'));
      const { status, text } = await joined.request('POST /invites/accept', {
        token,
        name,
        password: PASSWORD,
      });
      if (status !== 200) throw new Error(text);
      return joined;
    },
  };
}

export function tokenOf(url: string): string {
  return new URL(url).searchParams.get('token') ?? '';
}

function keepCookies(cookies: Map<string, string>, header: unknown): void {
  for (const line of [header ?? []].flat() as string[]) {
    const [pair = ''] = line.split(';', 1);
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (/max-age=0/i.test(line) || value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
}

/** Returns the current code of an authenticator app (RFC 6238), from the URI that it scanned. */
export function codeOf(uri: string, at = Date.now()): string {
  const secret = fromBase32(new URL(uri).searchParams.get('secret') ?? '');
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function fromBase32(text: string): Buffer {
  const bits = Array.from(text.replaceAll('=', ''))
    .map((sign) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(sign).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
