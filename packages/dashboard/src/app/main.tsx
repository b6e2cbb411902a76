import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './base.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProvider } from '../api/index.ts';
import { KeysProvider } from '../parts/index.ts';
import { reloadForParts } from '../parts/load-part.ts';
import { loadWhenShown } from '../parts/when-shown.ts';
import { keepFocus } from './keep-focus.ts';
import { router } from './router.ts';
import { theme, variables } from './theme.ts';

/** Notices shown before the container exists wait for it. */
const Notices = lazy(() => loadWhenShown(() => import('./notices.tsx')));

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');

reloadForParts();
keepFocus();
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'beckon-scheme' })}
    >
      <ApiProvider>
        <KeysProvider>
          <Suspense fallback={null}>
            <Notices />
          </Suspense>
          <RouterProvider router={router} />
        </KeysProvider>
      </ApiProvider>
    </MantineProvider>
  </StrictMode>,
);
