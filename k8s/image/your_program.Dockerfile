# Makes an image with your own program. The CMakeLists.txt next to this file must build the program
# with find_package(rota).
FROM rota-dev AS build
COPY . /src
RUN cmake -S /src -B /build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON && cmake --build /build && \
    install -D /build/your_program /image/usr/bin/your_program && rota-closure /image
FROM rota
COPY --from=build /image /
