import { Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useProject, useSession, useTestInbox } from '../api/index.ts';
import { mayOpen, type NavItem, type NavPage } from './nav-page.ts';
import type { Place } from './place.ts';
import classes from './page-tabs.module.css';
import { badgeText, useCounts } from './use-counts.ts';
import { usePlace } from './use-place.ts';

/** The pages of one entry of the sidebar, as links above the page. A page of one item has a breadcrumb instead. */
export function PageTabs(): ReactNode {
  const place = usePlace();
  if (!place || place.isDetail || !place.parent?.tabs) return null;
  return <Tabs parent={place.parent} tabs={place.parent.tabs} place={place} />;
}

type TabsProps = { parent: NavItem; tabs: NavPage[]; place: Place };

function Tabs({ parent, tabs, place }: TabsProps): ReactNode {
  const { id, role } = useProject();
  const counts = useCounts();
  const hasTestInbox = useHasTestInbox(tabs.some(({ to }) => to === TEST_INBOX));
  const shown = tabs.filter(
    (tab) =>
      mayOpen(role, tab.needs) && (tab.to !== TEST_INBOX || hasTestInbox || place.page.to === TEST_INBOX),
  );
  return (
    <nav className={classes.tabs} aria-label={parent.label}>
      {shown.map((tab) => {
        const count = badgeText(tab, counts);
        return (
          <Link key={tab.to} to={tab.to} params={{ project: String(id) }} className={classes.tab}>
            {tab.label}
            {count !== null && (
              <Badge size="sm" variant="default">
                {count}
              </Badge>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

const TEST_INBOX = '/p/$project/test-inbox';
const LOOK_EVERY_MS = 60_000;

/** With a relay, the test inbox is of use only for emails that were captured before. */
function useHasTestInbox(isAsked: boolean): boolean {
  const { demo, livemode } = useProject();
  const session = useSession();
  const isTestInbox = useTestInbox();
  const isCapturing = demo || !livemode || isTestInbox;
  const kept = useApi(
    'GET /projects/:project/test-inbox',
    { query: { limit: 1 } },
    { enabled: isAsked && session.data !== undefined && !isCapturing, staleTimeMs: LOOK_EVERY_MS },
  );
  return isCapturing || (kept.data?.data.length ?? 0) > 0;
}
