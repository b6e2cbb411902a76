import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { outsideRoute } from '../../app/roots.tsx';
import { searchOf, text } from '../../parts/search.ts';

export const setupRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/setup',
  validateSearch: searchOf({ token: text }),
  component: lazyRouteComponent(() => import('./setup-screen.tsx'), 'SetupScreen'),
});

export const signInRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/sign-in',
  validateSearch: searchOf({ next: text }),
  component: lazyRouteComponent(() => import('./sign-in-screen.tsx'), 'SignInScreen'),
});

export const inviteRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/invite',
  validateSearch: searchOf({ token: text }),
  component: lazyRouteComponent(() => import('./invite-screen.tsx'), 'InviteScreen'),
});

export const resetRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/reset',
  validateSearch: searchOf({ token: text }),
  component: lazyRouteComponent(() => import('./reset-screen.tsx'), 'ResetScreen'),
});

export const deviceRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/device',
  validateSearch: searchOf({ code: text }),
  component: lazyRouteComponent(() => import('./device-screen.tsx'), 'DeviceScreen'),
});

export const profileRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/profile',
  component: lazyRouteComponent(() => import('./profile-screen.tsx'), 'ProfileScreen'),
});
