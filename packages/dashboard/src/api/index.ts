/** The only code that calls the server. */
export { type Cache, type ChangeKey, type ChangeOptions, useChange } from './change.ts';
export { apiUrl } from './client.ts';
export { FeedProvider, useFeed, useFeedState } from './feed-provider.tsx';
export { ApiError } from './failure.ts';
export { useMay, useProject } from './project.ts';
export { ApiProvider, ProjectProvider, useSignIn } from './provider.tsx';
export {
  type HookArgs,
  type List,
  type ManyKey,
  type ReadKey,
  type RowOf,
  useApi,
  useApiInfinite,
  useCall,
  useLines,
  useRefresh,
  useRefreshAll,
  useSendFile,
} from './query.ts';
export { useSession } from './session.ts';
export { useTestInbox } from './test-inbox.ts';
