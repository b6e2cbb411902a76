import { type QueryClient, useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import type { AnswerOf, RouteKey } from '@beckon/contract/dashboard';
import { type Ask, call } from './client.ts';
import type { ApiError } from './failure.ts';
import { useProjectIfAny, useSignIn } from './provider.tsx';
import { type HookAsk, type ReadKey, withProject } from './query.ts';

export type ChangeKey = Exclude<RouteKey, ReadKey>;

/** What has been read, to be changed before the server has answered; a refusal puts all of it back. */
export type Cache = {
  /** Changes every answer of this route that the page holds in this project; of a list each page that was read. */
  change<K extends ReadKey>(key: K, to: (answer: AnswerOf<K>) => AnswerOf<K>): void;
};

export type Changing<K extends ChangeKey> = {
  /** Runs at once, before anything is sent. */
  optimistic?: (cache: Cache, ask: HookAsk<K>) => void;
  /** Whose answers are old after this. */
  refreshes?: ReadKey[];
  /** While it is still at work, the change counts as pending. */
  onDone?: (answer: AnswerOf<K>, ask: HookAsk<K>) => void | Promise<void>;
  onRefused?: (error: ApiError, ask: HookAsk<K>) => void;
};

/** One change: `const skip = useChange('POST …/skip', { … })`, then `skip.mutate({ params, body })`. */
export function useChange<K extends ChangeKey>(
  key: K,
  changing: Changing<K> = {},
): UseMutationResult<AnswerOf<K>, ApiError, HookAsk<K>, PutBack> {
  const client = useQueryClient();
  const signIn = useSignIn();
  const project = useProjectIfAny()?.id;
  return useMutation<AnswerOf<K>, ApiError, HookAsk<K>, PutBack>({
    mutationFn: (ask) => call(key, withProject(ask, project) as Ask<K>, { signIn }),
    onMutate: (ask) => {
      const { cache, putBack } = openCache(client, project);
      changing.optimistic?.(cache, ask);
      return putBack;
    },
    onError: (error, ask, putBack) => {
      putBack?.();
      changing.onRefused?.(error, ask);
    },
    onSuccess: (answer, ask) => changing.onDone?.(answer, ask),
    onSettled: () => {
      const { refreshes = [] } = changing;
      void client.invalidateQueries({
        predicate: ({ queryKey }) => refreshes.includes(queryKey[0] as ReadKey),
      });
    },
  });
}

type PutBack = () => void;

function openCache(client: QueryClient, project: number | undefined): { cache: Cache; putBack: PutBack } {
  const before: [readonly unknown[], unknown][] = [];
  const cache: Cache = {
    change(key, to) {
      const filter = {
        predicate: ({ queryKey }: { queryKey: readonly unknown[] }) =>
          queryKey[0] === key && (queryKey[1] as { project?: unknown }).project === project,
      };
      // An answer that is on its way was made before this change, and would undo it on the page.
      void client.cancelQueries(filter);
      before.push(...client.getQueriesData(filter));
      client.setQueriesData(filter, (held: unknown) => changeHeld(held, to as (answer: unknown) => unknown));
    },
  };
  return {
    cache,
    putBack: () => {
      for (const [queryKey, held] of before.toReversed()) client.setQueryData(queryKey, held);
    },
  };
}

function changeHeld(held: unknown, to: (answer: unknown) => unknown): unknown {
  if (held === undefined) return held;
  const { pages } = held as { pages?: unknown[] };
  return Array.isArray(pages) ? { ...(held as object), pages: pages.map(to) } : to(held);
}
