import type { AnswerOf, RouteKey } from '@beckon/contract/dashboard';
import { Beckon, type BeckonOptions } from '@beckon/client';
import { createDashboard, type Dashboard, type OpenOptions, type RequestOf } from '../api/dashboard.ts';
import { findProject, type Project } from '../api/project.ts';
import { answered, usage } from '../failure.ts';
import type { Output, OutputOptions } from '../output/output.ts';
import { type Connection, type ConnectionOptions, openConnection } from '../profiles/connection.ts';
import { canAsk, type Shell } from '../shell.ts';

export type GlobalOptions = OutputOptions & ConnectionOptions & { yes?: boolean };

/** Everything a command needs. It reads, asks and opens lazily. */
export type Context<R extends RouteKey = RouteKey> = {
  shell: Shell;
  output: Output;
  options: GlobalOptions;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  connection: () => Promise<Connection>;
  /** The dashboard API; `:project` is filled in. */
  api: Api<R>;
  project: () => Promise<Project>;
  /** The public API, by API key. */
  client: (options?: Pick<BeckonOptions, 'retry' | 'timeoutMs'>) => Promise<Beckon>;
  /** Returns when the user says yes, or `--yes` is given; throws otherwise. */
  confirm: (question: string) => Promise<void>;
};

export type Api<R extends RouteKey> = {
  call<K extends R>(key: K, request: CallOf<K>): Promise<AnswerOf<K>>;
  open<K extends R>(key: K, request: RequestOf<K, 'project'> & OpenOptions): Promise<Response>;
};
/** `project`: another project than the chosen one. */
type CallOf<K extends RouteKey> = RequestOf<K, 'project'> & { project?: string; timeoutMs?: number };

/** A person waits for the result. */
const SHORT_RETRY = { attempts: 3, totalMs: 20_000 };

type Given = { shell: Shell; output: Output; options: GlobalOptions; signal: AbortSignal };

export function createContext(given: Given): Context {
  const { shell, options, signal } = given;
  const connection = once(() => openConnection(given, options));
  const dashboard = once(async () => {
    const opened = await connection();
    const { target, token } = opened.dashboard();
    return { opened, dashboard: createDashboard({ target, token, version: shell.version, signal }) };
  });
  const project = once(async () => {
    const { opened, dashboard: api } = await dashboard();
    return findProject(api, opened);
  });

  async function resolve<K extends RouteKey>(
    key: K,
    request: { params?: object; project?: string },
  ): Promise<[Dashboard, never]> {
    const named = key.includes('/:project') ? { project: request.project ?? (await project()).id } : {};
    const params = { ...request.params, ...named };
    return [(await dashboard()).dashboard, { ...request, params } as never];
  }
  return {
    ...given,
    connection,
    project,
    api: {
      async call(key, request) {
        const [api, resolved] = await resolve(key, request);
        return api.call(key, resolved);
      },
      async open(key, request) {
        const [api, resolved] = await resolve(key, request);
        return api.open(key, resolved);
      },
    },
    async client(more = {}) {
      const { publicUrl, apiKey } = await connection();
      const userAgent = `beckon-cli/${shell.version}`;
      return new Beckon({
        url: await publicUrl(),
        apiKey: await apiKey(),
        userAgent,
        retry: SHORT_RETRY,
        ...more,
      });
    },
    async confirm(question) {
      if (options.yes) return;
      if (!canAsk(shell, options.json)) throw usage(`${question} Pass --yes to confirm.`, '--yes');
      answered((await shell.ask.confirm(question)) || null);
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}
