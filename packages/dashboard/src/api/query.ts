import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type {
  ResponseOf,
  ListResponse,
  PageQuery,
  ParamsOf,
  QueryOf,
  RouteKey,
} from '@beckon/contract/dashboard';
import { type CallArgs, call, callForLines } from './client.ts';
import type { ApiError } from './failure.ts';
import { useProjectIfAny, useSignIn } from './provider.tsx';

export type ReadKey = Extract<RouteKey, `GET ${string}`>;
/** Routes that respond with a list. */
export type ManyKey = { [K in ReadKey]: ResponseOf<K> extends ListResponse<unknown> ? K : never }[ReadKey];
export type RowOf<K extends ManyKey> = ResponseOf<K> extends ListResponse<infer Row> ? Row : never;

/** Arguments of a hook. The project defaults to that of the page. */
export type HookArgs<K extends RouteKey> = Omit<CallArgs<K>, 'params'> &
  (Exclude<keyof ParamsOf<K>, 'project'> extends never
    ? { params?: { project?: string | number } }
    : {
        params: { [N in Exclude<keyof ParamsOf<K>, 'project'>]: string | number } & {
          project?: string | number;
        };
      });

export type ReadOptions = {
  enabled?: boolean;
  /** How long a response counts as fresh. */
  staleTimeMs?: number;
  everyMs?: number;
  /** Keeps the previous response on the page while the arguments change. */
  keep?: boolean;
};

export type RouteArgs = { params?: object; query?: object };

/** One response, cached by its route and arguments. */
export function useApi<K extends ReadKey>(
  key: K,
  args: HookArgs<K>,
  options: ReadOptions = {},
): UseQueryResult<ResponseOf<K>, ApiError> {
  const signIn = useSignIn();
  const fullArgs = useFullArgs(key, args);
  return useQuery<ResponseOf<K>, ApiError>({
    queryKey: queryKeyOf(key, fullArgs),
    queryFn: ({ signal }) => call(key, fullArgs as CallArgs<K>, { signal, signIn }),
    ...optionsOf(options),
  });
}

/** The loaded part of a list, for `DataTable`. */
export type List<Row> = {
  rows: Row[];
  /** The total count, up to the server's limit. */
  total: number;
  /** There are more than `total`. */
  isAtLeast: boolean;
  isPending: boolean;
  isStale: boolean;
  error: ApiError | null;
  retry: () => void;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
};

/** A list that is loaded page by page with its cursor. */
export function useApiInfinite<K extends ManyKey>(
  key: K,
  args: HookArgs<K>,
  { limit = 100, ...options }: ReadOptions & { limit?: number } = {},
): List<RowOf<K>> {
  const signIn = useSignIn();
  const fullArgs = useFullArgs(key, args);
  const query = useInfiniteQuery({
    queryKey: [...queryKeyOf(key, fullArgs), 'pages'],
    queryFn: ({ signal, pageParam }) => {
      const page: PageQuery = pageParam === null ? { limit } : { limit, cursor: pageParam };
      const pageArgs = { ...fullArgs, query: { ...fullArgs.query, ...page } as QueryOf<K> };
      return call(key, pageArgs as unknown as CallArgs<K>, { signal, signIn }) as Promise<
        ListResponse<RowOf<K>>
      >;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.meta.cursor,
    ...optionsOf(options),
  });
  const error = query.error as ApiError | null;
  const isFilterFault = error?.field === 'filter';
  const before = usePagesBefore(query.data?.pages);
  return {
    ...readSoFar(query.data?.pages ?? (isFilterFault ? before : [])),
    isPending: query.isPending,
    isStale: query.isPlaceholderData || isFilterFault,
    error,
    retry: () => void query.refetch(),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
  };
}

/** The pages of the last valid response. They stay on the page while the member corrects a filter. */
function usePagesBefore<Page>(pages: Page[] | undefined): Page[] {
  const [before, setBefore] = useState<Page[]>([]);
  useEffect(() => {
    if (pages) setBefore(pages);
  }, [pages]);
  return before;
}

function readSoFar<Row>(pages: ListResponse<Row>[]): Pick<List<Row>, 'rows' | 'total' | 'isAtLeast'> {
  const meta = pages[0]?.meta;
  return {
    rows: pages.flatMap(({ data }) => data),
    total: meta?.pagination.total ?? 0,
    isAtLeast: meta?.at_least === true,
  };
}

function optionsOf({ enabled = true, staleTimeMs, everyMs, keep = false }: ReadOptions): {
  enabled: boolean;
  staleTime?: number;
  refetchInterval?: number;
  placeholderData?: never;
} {
  return {
    enabled,
    ...(staleTimeMs === undefined ? {} : { staleTime: staleTimeMs }),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keep ? { placeholderData: keepPreviousData as never } : {}),
  };
}

/** For manual calls: a search while the member types, a file, a preview. */
export function useCall(): <K extends RouteKey>(
  key: K,
  args: HookArgs<K>,
  signal?: AbortSignal,
) => Promise<ResponseOf<K>> {
  const signIn = useSignIn();
  const project = useProjectIfAny();
  return (key, args, signal) => call(key, withProject(args, project?.id) as never, { signal, signIn });
}

/** The same for a route that accepts a file's bytes. */
export function useSendFile(): <K extends RouteKey>(
  key: K,
  args: HookArgs<K> & { body: Blob },
  signal?: AbortSignal,
) => Promise<ResponseOf<K>> {
  return useCall() as never;
}

/** The same for a streamed response; `signal` cancels it on the server too. */
export function useLines(): <K extends RouteKey>(
  key: K,
  args: HookArgs<K>,
  options: { signal: AbortSignal; onLine: (line: unknown) => void },
) => Promise<void> {
  const signIn = useSignIn();
  const project = useProjectIfAny();
  return (key, args, options) =>
    callForLines(key, withProject(args, project?.id) as never, { ...options, signIn });
}

/** Marks the responses of these routes in this project as stale, and refetches the responses that are on the page. */
export function useRefresh(): (...keys: ReadKey[]) => Promise<void> {
  const client = useQueryClient();
  return async (...keys) => {
    await client.invalidateQueries({ predicate: ({ queryKey }) => keys.includes(queryKey[0] as ReadKey) });
  };
}

/** Refetches everything on the page. */
export function useRefreshAll(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries(), [client]);
}

function useFullArgs<K extends RouteKey>(key: K, args: HookArgs<K>): RouteArgs {
  return withProject(args, projectOf(key, useProjectIfAny()?.id));
}

/** A response without a project, such as the session, is the same in all projects, and cached once. */
export function projectOf(key: RouteKey, project: number | undefined): number | undefined {
  return key.includes('/:project') ? project : undefined;
}

export function withProject(args: RouteArgs, project: number | undefined): RouteArgs {
  return project === undefined ? args : { ...args, params: { project, ...args.params } };
}

function queryKeyOf(key: RouteKey, { params, query }: RouteArgs): [RouteKey, object, object] {
  return [key, params ?? {}, query ?? {}];
}
