import { useFeed, useRefresh } from '../../api/index.ts';
import { useOnLive } from './use-on-live.ts';

/** Shows the actions of other members on the current draft immediately. */
export function useFollowed(draft: string): void {
  const refresh = useRefresh();
  const again = (): void =>
    void refresh('GET /projects/:project/drafts/:draft', 'GET /projects/:project/drafts/:draft/context');
  useFeed(({ type, draft_id: id }) => type === 'draft_changed' && id === draft, again);
  useOnLive(again);
}
