import { Group, Text } from '@mantine/core';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { later } from '../parts/index.ts';
import { Gate } from './gate.tsx';
import classes from './outside.module.css';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';

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
            <Outlet />
            <SignInDialog />
            <ConfirmDialog />
          </Gate>
        )}
      </main>
    </div>
  );
}
