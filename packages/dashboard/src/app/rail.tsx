import { Badge } from '@mantine/core';
import type { HomeCounts, ItemResponse } from '@beckon/contract/dashboard';
import { Link } from '@tanstack/react-router';
import { ArrowLeft, PanelLeftClose, PanelLeftOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { useProject } from '../api/index.ts';
import { Tip } from '../parts/tip.tsx';
import { MAIN, SETTINGS } from './nav.ts';
import { mayOpen, type NavItem } from './nav-page.ts';
import { isInSettings, isWithin } from './place.ts';
import classes from './rail.module.css';
import { badgeText, useCounts } from './use-counts.ts';
import { useMainPath } from './use-main-path.ts';
import { usePlace } from './use-place.ts';
import { ZoneSwitch } from './zone-switch.tsx';

export type RailProps = { isSmall: boolean; onSmall: (isSmall: boolean) => void; onGo: () => void };

/** The sidebar, expanded with labels or collapsed to icons. Settings have their own, with a way back. */
export function Rail({ isSmall, onSmall, onGo }: RailProps): ReactNode {
  const { role } = useProject();
  const counts = useCounts();
  const inSettings = isInSettings(usePlace());
  const mainPath = useMainPath();
  const Icon = isSmall ? PanelLeftOpen : PanelLeftClose;
  const label = isSmall ? 'Expand the sidebar' : 'Collapse the sidebar';
  return (
    <div className={classes.rail} data-small={isSmall}>
      <div className={classes.scroll}>
        {inSettings && <BackLink to={mainPath} isSmall={isSmall} />}
        {(inSettings ? SETTINGS : MAIN).map(({ title, items }) => (
          <div
            key={title ?? items[0]?.label}
            className={classes.group}
            role="group"
            aria-label={title ?? (items.length > 1 ? 'Overview' : items[0]?.label)}
          >
            {title !== null && <div className={classes.title}>{title}</div>}
            {items
              .filter(({ needs }) => mayOpen(role, needs))
              .map((item) => (
                <RailLink key={item.to} item={item} isSmall={isSmall} counts={counts} onGo={onGo} />
              ))}
          </div>
        ))}
      </div>
      <ZoneSwitch isSmall={isSmall} />
      <Tip label={label} position="right" disabled={!isSmall}>
        <button type="button" className={classes.fold} onClick={() => onSmall(!isSmall)} aria-label={label}>
          <Icon size={16} aria-hidden="true" />
          {!isSmall && <span>Collapse</span>}
        </button>
      </Tip>
    </div>
  );
}

/** Leads to the page from which Settings were opened. The drawer of a phone stays open, to choose the next page. */
function BackLink({ to, isSmall }: { to: string; isSmall: boolean }): ReactNode {
  const label = `Back to ${useProject().name}`;
  return (
    <Tip label={label} position="right" disabled={!isSmall}>
      <Link
        to={to}
        className={`${classes.link} ${classes.back}`}
        {...(isSmall ? { 'aria-label': label } : {})}
      >
        <ArrowLeft size={17} strokeWidth={1.75} aria-hidden="true" />
        {!isSmall && <span className={classes.label}>{label}</span>}
      </Link>
    </Tip>
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
  const { icon: Icon, label, to } = item;
  const isCurrent = isWithin(item, usePlace());
  const count = badgeText(item, counts);
  return (
    <Tip label={label} position="right" disabled={!isSmall}>
      <Link
        to={to}
        params={{ project: String(id) }}
        className={classes.link}
        {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
        onClick={onGo}
        {...(isSmall ? { 'aria-label': count === null ? label : `${label}, ${count}` } : {})}
      >
        <Icon size={17} strokeWidth={1.75} aria-hidden="true" />
        {!isSmall && <span className={classes.label}>{label}</span>}
        {count !== null && (
          <Badge size="sm" variant="default" className={classes.badge ?? ''} aria-hidden={isSmall}>
            {count}
          </Badge>
        )}
      </Link>
    </Tip>
  );
}
