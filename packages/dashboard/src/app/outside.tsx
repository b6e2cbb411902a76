import { Group, Text } from '@mantine/core';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../api/index.ts';
import { later, ZoneProvider } from '../parts/index.ts';
import { Gate } from './gate.tsx';
import { lastProject } from './last-project.ts';
import classes from './outside.module.css';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';
import { ZoneSwitch } from './zone-switch.tsx';

const AccountMenu = later(() => import('./account-menu.tsx'), 'AccountMenu', null);

/** Pages that need no session. */
const OPEN = new Set(['/setup', '/sign-in', '/invite', '/reset']);

/** The frame of pages outside of projects. */
export function Outside(): ReactNode {
  const { pathname } = useLocation();
  const isOpen = OPEN.has(pathname);
  return (
    <div className={classes.outside}>
      <header className={classes.head}>
        <Link to="/" className={classes.home}>
          <img src="/beckon.svg" alt="" width={24} height={24} />
          <Text component="span" fw={620}>
            Beckon
          </Text>
        </Link>
        <Group>{!isOpen && <AccountMenu />}</Group>
      </header>
      <main id="content" className={classes.main}>
        {isOpen ? (
          <Outlet />
        ) : (
          <Gate>
            <InZone>
              <Outlet />
            </InZone>
            <SignInDialog />
            <ConfirmDialog />
          </Gate>
        )}
      </main>
    </div>
  );
}

/** The zone of the project that was open last. Without one: of the first project, or UTC without projects. */
function InZone({ children }: { children: ReactNode }): ReactNode {
  const { data } = useApi('GET /projects', {}, { staleTimeMs: PROJECTS_STALE_MS });
  const projects = data?.data ?? [];
  const project = projects.find(({ id }) => String(id) === lastProject()) ?? projects[0];
  const zone = project?.time_zone ?? 'UTC';
  return (
    <ZoneProvider zone={zone}>
      {children}
      {project && <ZoneSwitch />}
    </ZoneProvider>
  );
}

const PROJECTS_STALE_MS = 60_000;
