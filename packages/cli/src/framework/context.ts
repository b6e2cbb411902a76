import type { RouteKey } from '@beckon/contract/dashboard';
import { Beckon } from '@beckon/client';
import { type Api, createDashboard, type Dashboard } from '../api/dashboard.ts';
import { findProject, type Project } from '../api/project.ts';
import { requireAnswer, usage } from '../failure.ts';
import type { Output, OutputOptions } from '../output/output.ts';
import { printableLines } from '../output/printable.ts';
import { type Connection, type ConnectionOptions, openConnection } from '../profiles/connection.ts';
import { canPrompt, type Shell } from '../shell.ts';

export type GlobalOptions = OutputOptions & ConnectionOptions & { yes?: boolean };

/** Everything a command needs. Input is read, questions are asked and connections are opened only when used. */
export type Context<R extends RouteKey = RouteKey> = {
  shell: Shell;
  output: Output;
  options: GlobalOptions;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  connection: () => Promise<Connection>;
  /** The address of the public API. The local socket does not serve it, so the server returns its own address. */
  publicUrl: () => Promise<string>;
  /** The dashboard API; `:project` is filled in. */
  api: Api<R>;
  project: () => Promise<Project>;
  /** The dashboard API of the connection's address, with another token or without one. */
  dashboardWith: (token: string | null) => Promise<Dashboard>;
  /** The public API, by API key. */
  client: () => Promise<Beckon>;
  /** Returns when the user says yes, or `--yes` is given; throws otherwise. `flag`: another option that confirms. */
  confirm: (question: string, flag?: string) => Promise<void>;
};

/** A user waits for the result. */
const SHORT_RETRY = { attempts: 3, totalMs: 20_000 };

type ContextDeps = { shell: Shell; output: Output; options: GlobalOptions; signal: AbortSignal };

export function createContext(deps: ContextDeps): Context {
  const { shell, options, signal } = deps;
  const connection = once(() => openConnection(deps, options));
  const dashboard = once(async () => {
    const { target, token } = (await connection()).dashboard();
    return createDashboard({ target, token, version: shell.version, signal });
  });
  const project = once(async () => findProject(api, await connection()));

  async function resolve<K extends RouteKey>(
    key: K,
    request: { params?: object; project?: string },
  ): Promise<[Dashboard, never]> {
    const named = key.includes('/:project') ? { project: request.project ?? (await project()).id } : {};
    const params = { ...request.params, ...named };
    return [await dashboard(), { ...request, params } as never];
  }
  const api: Api<RouteKey> = {
    async call(key, request) {
      const [opened, resolved] = await resolve(key, request);
      return opened.call(key, resolved);
    },
    async open(key, request) {
      const [opened, resolved] = await resolve(key, request);
      return opened.open(key, resolved);
    },
  };
  async function publicUrl(): Promise<string> {
    const { kind, url } = await connection();
    return kind === 'remote' ? url : (await api.call('GET /session', {})).data.installation.public_url;
  }
  return {
    ...deps,
    connection,
    publicUrl,
    project,
    api,
    async dashboardWith(token) {
      const { url } = await connection();
      return createDashboard({ target: { url, socketPath: null }, token, version: shell.version, signal });
    },
    async client() {
      return new Beckon({
        url: await publicUrl(),
        apiKey: await (await connection()).apiKey(),
        userAgent: `beckon-cli/${shell.version}`,
        retry: SHORT_RETRY,
      });
    },
    async confirm(question, confirming = '--yes') {
      if (options.yes) return;
      if (!canPrompt(shell, options.json))
        throw usage(`${question} Pass ${confirming} to confirm.`, confirming);
      requireAnswer((await shell.prompts.confirm(printableLines(question))) || null);
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}
