import type { TimelineItem } from '@beckon/contract/dashboard';
import { formatTime } from '../../parts/time.ts';

/** One line of the timeline: an item, or all loaded items of one email, oldest first. */
export type Story = { at: string; id: string; items: [TimelineItem, ...TimelineItem[]] };
export type StoryDay = { day: string; stories: Story[] };

/** Combines the items of each email at the time of its newest one, and groups the lines by day in the zone. Items are newest first. */
export function storyDays(items: TimelineItem[], zone: string): StoryDay[] {
  const byEmail = new Map<string, Story>();
  const days: StoryDay[] = [];
  for (const item of items) {
    const known = item.draft_id === null ? undefined : byEmail.get(item.draft_id);
    if (known) {
      known.items.unshift(item);
      continue;
    }
    const story: Story = { at: item.at, id: item.draft_id ?? item.id, items: [item] };
    if (item.draft_id !== null) byEmail.set(item.draft_id, story);
    const day = formatTime(item.at, zone, 'day');
    const last = days.at(-1);
    if (last?.day === day) last.stories.push(story);
    else days.push({ day, stories: [story] });
  }
  return days;
}

/** The subject of the email, from its draft or a change of it. */
export function subjectOf({ items }: Story): string | null {
  for (const { kind, title, detail } of items) {
    if (kind === 'draft') return title;
    if (typeof detail['subject'] === 'string') return detail['subject'];
  }
  return null;
}
