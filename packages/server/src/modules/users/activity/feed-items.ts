import type { FeedItem, FeedType } from '@beckon/contract/dashboard';
import { cursorOf, type StreamItem } from './stream.ts';
import type { Access } from '../../workspace/index.ts';

/** Returns the items as the dashboard shows them: with their positions, and with the names of the actors. */
export async function toFeedItems(
  { access }: { access: Pick<Access, 'namesOf'> },
  items: StreamItem[],
): Promise<FeedItem[]> {
  const actors = new Set(items.map(actorOf).filter((actor) => actor !== null));
  const names = actors.size === 0 ? NOBODY : await access.namesOf([...actors]);
  return items.map((item) => {
    const name = names.get(actorOf(item) ?? '');
    const shown = { ...item, type: item.type as FeedType, place: cursorOf(item) };
    return (name === undefined ? shown : { ...shown, actor_name: name }) as FeedItem;
  });
}

const NOBODY: ReadonlyMap<string, string> = new Map();

function actorOf(item: StreamItem): string | null {
  return 'actor' in item && typeof item.actor === 'string' ? item.actor : null;
}
