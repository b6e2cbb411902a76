import { Badge, Tooltip } from '@mantine/core';
import { allows, type HomeCounts, type ItemResponse } from '@beckon/contract/dashboard';
import { Link } from '@tanstack/react-router';
import { PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useFeed, useProject, useRefresh } from '../api/index.ts';
import { NAV, type NavItem } from './nav.ts';
import classes from './rail.module.css';
import { ZoneSwitch } from './zone-switch.tsx';

export type RailProps = { isSmall: boolean; onSmall: (isSmall: boolean) => void; onGo: () => void };

/** The sidebar: expanded with labels, or collapsed to icons. */
export function Rail({ isSmall, onSmall, onGo }: RailProps): ReactNode {
  const { role } = useProject();
  const counts = useCounts();
  const Icon = isSmall ? PanelLeftOpen : PanelLeftClose;
  const label = isSmall ? 'Expand the sidebar' : 'Collapse the sidebar';
  return (
    <div className={classes.rail} data-small={isSmall}>
      <div className={classes.scroll}>
        {NAV.map(({ title, items }) => (
          <div key={title ?? 'first'} className={classes.group} role="group" aria-label={title ?? 'Overview'}>
            {title !== null && <div className={classes.title}>{title}</div>}
            {items
              .filter(({ needs }) => needs === undefined || allows(role, needs))
              .map((item) => (
                <RailLink key={item.to} item={item} isSmall={isSmall} counts={counts} onGo={onGo} />
              ))}
          </div>
        ))}
      </div>
      <ZoneSwitch isSmall={isSmall} />
      <Tooltip label={label} position="right" disabled={!isSmall}>
        <button type="button" className={classes.fold} onClick={() => onSmall(!isSmall)} aria-label={label}>
          <Icon size={16} aria-hidden="true" />
          {!isSmall && <span>Collapse</span>}
        </button>
      </Tooltip>
    </div>
  );
}

type RailLinkProps = {
  item: NavItem;
  isSmall: boolean;
  counts: ItemResponse<HomeCounts> | undefined;
  onGo: () => void;
};

function RailLink({ item, isSmall, counts, onGo }: RailLinkProps): ReactNode {
  const { id } = useProject();
  const { icon: Icon, label, to, badge } = item;
  const counted = badge === undefined ? undefined : counts?.data[badge];
  const count = counted ? `${counted.count.toLocaleString('en-GB')}${counted.at_least ? '+' : ''}` : '0';
  return (
    <Tooltip label={label} position="right" disabled={!isSmall}>
      <Link
        to={to}
        params={{ project: String(id) }}
        className={classes.link}
        activeProps={{ 'aria-current': 'page' }}
        onClick={onGo}
        {...(isSmall ? { 'aria-label': count === '0' ? label : `${label}, ${count}` } : {})}
      >
        <Icon size={17} strokeWidth={1.75} aria-hidden="true" />
        {!isSmall && <span className={classes.label}>{label}</span>}
        {count !== '0' && (
          <Badge size="sm" variant="default" className={classes.badge ?? ''} aria-hidden={isSmall}>
            {count}
          </Badge>
        )}
      </Link>
    </Tooltip>
  );
}

const COUNT_EVERY_MS = 60_000;
const COUNTED = new Set(['draft', 'draft_changed', 'email', 'outcome']);

/** Refreshes the counts after changes, at most every two seconds, and at least once a minute. */
function useCounts(): ItemResponse<HomeCounts> | undefined {
  const refresh = useRefresh();
  const counts = useApi('GET /projects/:project/counts', {}, { everyMs: COUNT_EVERY_MS, staleTimeMs: 2_000 });
  useFeed(
    ({ type }) => COUNTED.has(type),
    () => {
      if (!counts.isFetching && Date.now() - counts.dataUpdatedAt > 2_000)
        void refresh('GET /projects/:project/counts');
    },
  );
  return counts.data;
}
