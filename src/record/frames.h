/* SPDX-License-Identifier: MIT
 *
 * The functions by which programs show a frame: `record --marks` puts a mark at each call of them.
 */
#ifndef AB_RECORD_FRAMES_H
#define AB_RECORD_FRAMES_H

#define AB_FRAMES(F) \
    F(SDL_GL_SwapWindow) F(SDL_RenderPresent) F(glfwSwapBuffers) F(glXSwapBuffers) F(eglSwapBuffers)

#endif
