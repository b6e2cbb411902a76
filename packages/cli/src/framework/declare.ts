import type { ResponseOf, BodyOf, QueryOf, RouteKey } from '@beckon/contract/dashboard';
import { type ExitCode, usage } from '../failure.ts';
import { type Column, type Field, tableOf, viewOf } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import type { Words } from '../output/words.ts';
import type { Context } from './context.ts';
import { downloadTo } from './download.ts';
import { flag, longOf, type Options, text, type ValuesOf, whole } from './options.ts';
import { readPages } from './pages.ts';

/** `beckon <noun> <verb>`: a group of commands. */
export type Noun = { name: string; help: string; commands: readonly Command[] };

/** One command as the program, the documentation and the tests read it. */
export type Command = {
  /** As typed behind the noun: `postpone <draft>`. */
  usage: string;
  help: string;
  /** More text below the options. */
  details?: string;
  routes: readonly RouteKey[];
  args: Record<string, string>;
  options: Options;
  /** Ends with Ctrl-C, which then is a success. */
  isStream?: boolean;
  run: (context: Context, input: never) => Promise<ExitCode | void>;
};

type Arg<Word> = Word extends `<${infer N}...>` | `[${infer N}...]`
  ? { [K in N]: string[] }
  : Word extends `<${infer N}>`
    ? { [K in N]: string }
    : Word extends `[${infer N}]`
      ? { [K in N]?: string }
      : unknown;
type ArgsOf<U extends string> = U extends `${infer Word} ${infer Rest}` ? Arg<Word> & ArgsOf<Rest> : Arg<U>;
/** Arguments and options by name. */
export type Input<U extends string, O> = ArgsOf<U> & ValuesOf<O>;

type Described<U extends string, O> = {
  /** An imperative with an object: "List API keys". */
  help: string;
  details?: string;
  /** Descriptions of arguments that `ARGUMENTS` does not have. */
  args?: { [K in keyof ArgsOf<U>]?: string };
  options?: O;
};

/** Arguments that mean the same everywhere; a command only describes others. */
const ARGUMENTS: Record<string, string> = {
  audience: 'Audience ID or name',
  draft: 'Draft ID',
  endpoint: 'Webhook endpoint ID',
  event: 'Event name',
  filter: 'Filter terms as in the dashboard, such as user:user_42 -state:sent',
  rule: 'Rule ID or name',
  template: 'Template name',
  user: 'User ID (external_user_id)',
};

/** Without `limit`, a route answers its whole list at once. */
type Paged<K extends RouteKey> =
  QueryOf<K> extends { limit?: number } ? { isPaged: true } : { isPaged?: never };

type ListSpec<K extends RouteKey, U extends string, O> = Described<U, O> &
  Paged<K> & {
    /** Default: arguments and options by their names. */
    query?: (input: Input<U, O>) => QueryOf<K>;
    row: readonly Column<ItemOf<K>>[];
    /** Says what belongs in the list, and names the command that adds one. */
    empty: string;
    /** The route of the same list as CSV; adds `--csv`. */
    csv?: RouteKey;
  };
type ItemOf<K extends RouteKey> = ResponseOf<K> extends { data: (infer T extends object)[] } ? T : never;

const LISTED = 50;

/** Declares a command that prints a list as a table. */
export function list<K extends RouteKey, const U extends string, O extends Options = {}>(
  route: K,
  usage: U,
  spec: ListSpec<K, U, O>,
): Command {
  const listOptions = {
    limit: whole('--limit <count>', `How many to list (default: ${LISTED})`, [1, 100_000]),
    ...(spec.csv === undefined ? {} : { csv: flag('--csv', 'Write the whole list as CSV') }),
  };
  return {
    ...described(usage, spec, listOptions),
    routes: spec.csv === undefined ? [route] : [route, spec.csv],
    async run(context, input: Input<U, O> & { limit?: number; csv?: true }) {
      const { api, output } = context;
      const query = (spec.query ?? fieldsOf(route, listOptions))(input) as object | undefined;
      if (input.csv && spec.csv !== undefined)
        return downloadTo(context, await api.open(spec.csv, { params: input, query } as never));
      const range = { limit: input.limit ?? LISTED, isPaged: spec.isPaged ?? false };
      const { items, total } = await readPages<ItemOf<K>>(range, (page) =>
        api.call(route, { params: input, query: { ...query, ...page } } as never),
      );
      const isFiltered = fieldsOf(route, listOptions)(input) !== undefined;
      const empty = isFiltered ? 'No matches for this filter.' : spec.empty;
      await output.value(items, (rows) => tableOf({ empty }, rows, spec.row));
      if (total !== null) await output.note(`Showing ${items.length} of ${total}. Use --limit to list more.`);
    },
  };
}

type CallSpec<K extends RouteKey, U extends string, O, R extends RouteKey, F> = Described<U, O> & {
  /** Routes that `find` calls. */
  reads?: readonly R[];
  /** Looks up what the question, the body or the view needs. */
  find?: (context: Context<R>, input: Input<U, O>) => Promise<F>;
  /** Asks before the call; null needs no confirmation. Adds `--yes`. */
  confirm?: string | ((input: Input<U, O>, found: NoInfer<F>) => string | null);
  /** Fails when no option is given, because the call would change nothing. */
  needsOption?: true;
  /** Default: arguments and options by their names. */
  query?: (input: Input<U, O>, found: NoInfer<F>) => QueryOf<K>;
  body?: (input: Input<U, O>, found: NoInfer<F>) => BodyOf<K>;
  /** The printed value, if it is more than the answer. The view gets the answer. */
  value?: (data: DataOf<K>, found: NoInfer<F>) => object;
  /** Default: every field (`viewOf`); names choose and order them. */
  view?:
    | readonly Field<DataOf<K>>[]
    | ((data: DataOf<K>, words: Words, about: { input: Input<U, O>; found: NoInfer<F> }) => View);
  /** How long the server may take, where that is more than 30 seconds. */
  timeoutMs?: number;
  /** The exit code, where an answer can mean a failure. */
  exit?: (data: DataOf<K>) => ExitCode;
};
type DataOf<K extends RouteKey> = ResponseOf<K> extends { data: infer T } ? T : never;

/** `reads` and `find` of a call that first needs the response of another route with the same path. */
export function lookUp<K extends RouteKey>(route: K) {
  return {
    reads: [route] as const,
    find: async ({ api }: Context<K>, params: object): Promise<DataOf<K>> =>
      ((await api.call(route, { params } as never)) as { data: DataOf<K> }).data,
  };
}

/** Declares a command that makes one call and shows its answer: a detail view, or the result of a change. */
export function call<
  K extends RouteKey,
  const U extends string,
  O extends Options = {},
  R extends RouteKey = never,
  F = undefined,
>(route: K, usage: U, spec: CallSpec<K, U, O, R, F>): Command {
  const { reads = [], confirm, find, view } = spec;
  const callOptions = confirm === undefined ? {} : { yes: YES };
  const isRead = route.startsWith('GET ');
  const byDefault = fieldsOf(route, callOptions);
  const { query = isRead ? byDefault : nothing, body = isRead ? nothing : byDefault } = spec;
  return {
    ...described(usage, spec, callOptions),
    routes: [route, ...reads],
    async run(context: Context, input: Input<U, O>) {
      requireOption(spec, input);
      const found = (await find?.(context as Context<R>, input)) as F;
      const question = typeof confirm === 'function' ? confirm(input, found) : confirm;
      if (question != null) await context.confirm(question);
      const { data } = (await context.api.call(route, {
        params: input,
        query: query(input, found),
        body: body(input, found),
        timeoutMs: spec.timeoutMs,
      } as never)) as { data: DataOf<K> };
      await context.output.value(spec.value?.(data, found) ?? data, (_value, words) =>
        typeof view === 'function'
          ? view(data, words, { input, found })
          : viewOf(data as object, view as never),
      );
      return spec.exit?.(data);
    },
  };
}

function requireOption({ options = {}, needsOption }: AnySpec, input: object): void {
  if (!needsOption || Object.keys(options).some((name) => Object.hasOwn(input, name))) return;
  const flags = Object.values(options).map((option) => longOf(option.flags));
  throw usage(`No changes given. Pass at least one of ${flags.join(', ')}.`, flags[0]);
}

/** Declares a command that writes a file of the server to stdout, or to `--out`. */
export function download<const U extends string, O extends Options = {}>(
  route: RouteKey,
  usage: U,
  spec: Described<U, O>,
): Command {
  const downloadOptions = { out: text('--out <file>', 'Write to this new file instead of stdout') };
  return {
    ...described(usage, spec, downloadOptions),
    routes: [route],
    async run(context: Context, input: Input<U, O> & { out?: string }) {
      const query = fieldsOf(route, downloadOptions)(input);
      const response = await context.api.open(route, { params: input, query } as never);
      await downloadTo(context, response, input.out);
    },
  };
}

type CustomSpec<U extends string, O, R extends RouteKey> = Described<U, O> & {
  routes?: readonly R[];
  /** Adds `--yes`, for `context.confirm`. */
  confirms?: true;
  isStream?: true;
  run: (context: Context<R>, input: Input<U, O>) => Promise<ExitCode | void>;
};

/** Declares a command with several calls, or without calls. It can only call the routes that it names. */
export function custom<const U extends string, O extends Options = {}, R extends RouteKey = never>(
  usage: U,
  spec: CustomSpec<U, O, R>,
): Command {
  const { routes = [], confirms, isStream = false, run } = spec;
  return {
    ...described(usage, spec, confirms ? { yes: YES } : {}),
    routes,
    isStream,
    run: (context, input) => run(context as Context<R>, input),
  };
}

const YES = flag('-y, --yes', 'Do not ask for confirmation');

type AnySpec = { help: string; details?: string; args?: object; options?: Options; needsOption?: true };

function described(usage: string, spec: AnySpec, more: Options): Omit<Command, 'routes' | 'run'> {
  const { help, details, options = {} } = spec;
  const names = [...usage.matchAll(/[<[](\w+)/g)].map(([, name = '']) => name);
  const argumentHelp = (spec.args ?? {}) as Record<string, string>;
  const args = names.map((name): [string, string] => [name, argumentHelp[name] ?? ARGUMENTS[name] ?? '']);
  return {
    usage,
    help,
    ...(details === undefined ? {} : { details }),
    args: Object.fromEntries(args),
    options: { ...options, ...more },
  };
}

/** The arguments and options by the names of the API's fields, without those of the path, and a filter as one text. */
function fieldsOf(route: string, ownOptions: Options): (input: object) => never {
  const inPath = [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return (input) => {
    const fields = Object.entries(input)
      .filter(([name]) => !inPath.includes(name) && !Object.hasOwn(ownOptions, name))
      .map(([name, value]): [string, unknown] => [name, name === 'filter' ? String(value.join(' ')) : value])
      .filter(([, value]) => value !== '');
    return (fields.length === 0 ? undefined : Object.fromEntries(fields)) as never;
  };
}

function nothing(): never {
  return undefined as never;
}
